import { useMemo } from 'preact/hooks'
import { jsonPieces } from './json-text.ts'

/** Longer texts have no colours, which are slow for a browser. */
const colouredLength = 200_000

/** JSON with colours for keys, strings, numbers and literals. */
export function JsonView({ text }: { readonly text: string }) {
  const pieces = useMemo(() => (text.length > colouredLength ? null : jsonPieces(text)), [text])
  if (pieces === null) return <>{text}</>
  return (
    <>
      {pieces.map(({ kind, text }, at) =>
        kind === 'plain' ? (
          text
        ) : (
          <span key={at} class={`json-${kind}`}>
            {text}
          </span>
        ),
      )}
    </>
  )
}
