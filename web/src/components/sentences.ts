/** A paragraph in sentences that can be asked about, each with its trailing space; joined they are the paragraph. */
export function sentencesOf(text: string, locale: string): string[] {
  const parts = [...new Intl.Segmenter(locale, { granularity: "sentence" }).segment(text)].map((part) => part.segment);
  // Marks that begin in one sentence and end in another belong together.
  const joined: string[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last !== undefined && !isBalanced(last)) joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}

function isBalanced(text: string): boolean {
  return (text.match(/\*\*/g)?.length ?? 0) % 2 === 0 && (text.match(/`/g)?.length ?? 0) % 2 === 0;
}
