import { useMemo } from 'preact/hooks'
import { JsonView } from './json-view.tsx'
import { type Block, blocksOf, spansOf } from './markdown.ts'

/** A text formatted by its Markdown. HTML stays text, and no link can be followed. */
export function MarkdownView({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return (
    <>
      {blocks.map((block, at) => (
        <BlockView key={at} block={block} />
      ))}
    </>
  )
}

function BlockView({ block }: { readonly block: Block }) {
  const { kind, text } = block
  switch (kind) {
    case 'code':
      return (
        <pre class="said-code code-block inset">
          <code>{block.language === 'json' ? <JsonView text={text} /> : text}</code>
        </pre>
      )
    case 'heading':
      return (
        <p class="said-heading">
          <Spans text={text} />
        </p>
      )
    case 'item':
      return (
        <p class="said-item" style={{ '--depth': block.depth }}>
          <span>{block.mark}</span>
          <span>
            <Spans text={text} />
          </span>
        </p>
      )
    case 'text':
      return (
        <p>
          <Spans text={text} />
        </p>
      )
  }
}

function Spans({ text }: { readonly text: string }) {
  return (
    <>
      {spansOf(text).map(({ kind, text }, at) =>
        kind === 'code' ? (
          <code key={at}>{text}</code>
        ) : kind === 'strong' ? (
          <strong key={at}>{text}</strong>
        ) : (
          text
        ),
      )}
    </>
  )
}
