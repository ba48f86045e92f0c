import { readFileSync } from "node:fs";

import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const { dependencies } = JSON.parse(readFileSync("package.json", "utf8")) as { dependencies: Record<string, string> };
/** What ends up in the bundle: the dependencies, and what React brings with it. */
const SHIPPED = [...Object.keys(dependencies), "scheduler"];

/** The licences of what is shipped go with it. */
function licences(): Plugin {
  return {
    name: "licences",
    generateBundle() {
      const texts = SHIPPED.map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8")}`);
      this.emitFile({ type: "asset", fileName: "licences.txt", source: texts.join(`\n${"-".repeat(80)}\n\n`) });
    },
  };
}

export default defineConfig({
  plugins: [react(), licences()],
  build: {
    outDir: "../src/repertory/server/web",
    emptyOutDir: true,
    target: "es2022",
    // A data: font or image would need a weaker content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8700", "/v1": "http://127.0.0.1:8700" } },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"], setupFiles: ["tests/setup.ts"] },
});
