/** Messages in every language that there is a catalog for. */
export interface Messages<Name extends string> {
  en: Record<Name, string>;
  pt: Record<Name, string>;
}

/** The same messages in each language: one that lacks a message, or has another one, is not compiled. */
export function messages<Name extends string>(
  en: Record<Name, string>,
  pt: Record<NoInfer<Name>, string>,
): Messages<Name> {
  return { en, pt };
}
