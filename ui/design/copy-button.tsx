import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'

export interface CopyButtonProps {
  /** The text, or a function for a text that is costly to make or changes with time. */
  readonly text: string | (() => string)
  /** Completes the button's name "Copy …": `the base URL`. */
  readonly what: string
  /** Text beside the icon: `Copy link`. */
  readonly words?: string
  readonly icon?: IconName
}

const shownForMs = 2000
const cannotCopy = 'Copying failed: select the text and copy it with the keyboard.'

/** A button that copies a text, and confirms that for a moment. */
export function CopyButton({ text, what, words, icon = 'copy' }: CopyButtonProps) {
  const button = useRef<HTMLButtonElement>(null)
  const [result, setResult] = useState<'done' | 'failed' | null>(null)
  useEffect(() => {
    if (result === null) return
    const timer = setTimeout(() => setResult(null), shownForMs)
    return () => clearTimeout(timer)
  }, [result])
  const press = async (): Promise<void> => {
    const isCopied = await copy(typeof text === 'string' ? text : text(), button.current)
    setResult(isCopied ? 'done' : 'failed')
  }
  return (
    <>
      <Button
        ref={button}
        kind="bare"
        small
        icon={result === 'done' ? 'check' : result === 'failed' ? 'warning' : icon}
        class={
          result === null ? 'copy-button' : `copy-button is-told ${result === 'done' ? 'is-good' : 'is-bad'}`
        }
        aria-label={words === undefined ? `Copy ${what}` : undefined}
        title={result === 'failed' ? cannotCopy : words === undefined ? `Copy ${what}` : undefined}
        onClick={() => void press()}
      >
        {result === 'done' && words !== undefined ? 'Copied' : words}
      </Button>
      <span class="aside" role="status">
        {result === 'done' && 'Copied.'}
        {result === 'failed' && cannotCopy}
      </span>
    </>
  )
}

async function copy(text: string, beside: HTMLElement | null): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return beside !== null && copyBySelection(text, beside)
  }
}

/**
 * Copies by selecting the text, and returns true on success. A page over plain HTTP from another machine has no
 * clipboard.
 */
function copyBySelection(text: string, beside: HTMLElement): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'aside'
  // A modal dialog allows no selection outside itself.
  beside.after(field)
  field.select()
  // Deprecated, but the only way without a clipboard.
  // oxlint-disable-next-line typescript/no-deprecated
  const isCopied = document.execCommand('copy')
  field.remove()
  beside.focus()
  return isCopied
}
