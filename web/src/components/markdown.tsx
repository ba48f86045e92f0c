import { Fragment, type ReactNode } from "react";

import { useLanguage } from "../i18n/language";
import { sentencesOf } from "./sentences";
import { parseBlocks, parseInline, type Block, type Inline } from "./markdown_text";

type OnSentence = ((sentence: string) => void) | null;

/**
 * Text of a model as sanitised Markdown: React nodes only, no HTML, no images, and no link that a model chose. With
 * `onSentence`, each sentence is a button that asks about it.
 */
export function Markdown({ text, onSentence = null }: { text: string; onSentence?: OnSentence }) {
  const { locale } = useLanguage();
  const inline = (words: string): ReactNode =>
    onSentence === null
      ? renderInline(words)
      : sentencesOf(words, locale).map((sentence, at) => (
          <button key={at} type="button" className="sentence" onClick={() => onSentence(sentence.trim())}>
            {renderInline(sentence)}
          </button>
        ));
  return <div className="prose">{parseBlocks(text).map((block, at) => renderBlock(block, at, inline))}</div>;
}

function renderBlock(block: Block, key: number, inline: (words: string) => ReactNode): ReactNode {
  switch (block.kind) {
    case "code":
      return (
        <pre key={key} tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "heading":
      return (
        <p key={key} className="prose-heading">
          {inline(block.text)}
        </p>
      );
    case "quote":
      return <blockquote key={key}>{block.blocks.map((inner, at) => renderBlock(inner, at, inline))}</blockquote>;
    case "list": {
      const items = block.items.map((item, at) => <li key={at}>{inline(item)}</li>);
      return block.ordered ? (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      );
    }
    case "paragraph":
      return <p key={key}>{inline(block.text)}</p>;
  }
}

function renderInline(text: string): ReactNode {
  return parseInline(text).map((part, at) => <Fragment key={at}>{renderPart(part)}</Fragment>);
}

function renderPart(part: Inline): ReactNode {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return <code>{part.text}</code>;
    case "strong":
      return (
        <strong>
          {part.parts.map((inner, at) => (
            <Fragment key={at}>{renderPart(inner)}</Fragment>
          ))}
        </strong>
      );
    case "emphasis":
      return (
        <em>
          {part.parts.map((inner, at) => (
            <Fragment key={at}>{renderPart(inner)}</Fragment>
          ))}
        </em>
      );
    case "break":
      return <br />;
  }
}
