import { Button } from './button.tsx'

/** The end of a list whose next page failed: the error, and a button that asks again. */
export function MoreFailed({ error, again }: { readonly error: string; readonly again: () => void }) {
  return (
    <p class="list-foot row fine" role="alert">
      <span>{error}</span>
      <Button small onClick={again}>
        Try again
      </Button>
    </p>
  )
}
