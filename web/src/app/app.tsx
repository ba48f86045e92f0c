import { LiveProvider } from "../api/live";
import { FailureNotice, Loading } from "../components/ui";
import { LanguageProvider } from "../i18n/language";
import { SignInPage } from "../pages/sign_in";
import { InstallationDefaults } from "./defaults";
import { Pages } from "./pages";
import { SessionProvider, useSession } from "./session";
import { Shell } from "./shell";

export function App() {
  return (
    <LanguageProvider>
      <SessionProvider
        whileUnknown={(failure, retry) => (
          <main className="first-load">
            {failure === null ? <Loading rows={2} /> : <FailureNotice failure={failure} onRetry={retry} />}
          </main>
        )}
      >
        <SignedIn />
      </SessionProvider>
    </LanguageProvider>
  );
}

function SignedIn() {
  const { session, refresh } = useSession();
  if (!session.signed_in) return <SignInPage />;
  return (
    // A key that was revoked, or a server that was started with keys meanwhile: ask again who this is.
    <LiveProvider enabled onRefused={() => void refresh()} onReconnected={() => void refresh()}>
      <InstallationDefaults />
      <Shell>
        <Pages />
      </Shell>
    </LiveProvider>
  );
}
