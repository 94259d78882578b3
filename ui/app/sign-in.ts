import '../design/tokens.css'
import '../design/design.css'
import './app.css'
import type { ErrorBody } from '../../src/api/error-body.ts'

/** Returns an element of the static page by its id. */
function part<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new TypeError(`the page has no ${id}`)
  return element
}

const token = part('token', HTMLInputElement)
const error = part('sign-in-error', HTMLElement)

// The page's policy forbids form submission, so that a token can never end up in an address.
part('sign-in', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  void signIn()
})

async function signIn(): Promise<void> {
  say('')
  try {
    const response = await fetch('/api/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: token.value }),
    })
    if (response.ok) {
      // The server sent the sign-in page in place of the requested page, so a reload shows the requested one.
      location.reload()
      return
    }
    const { error } = (await response.json()) as ErrorBody
    say(error.message)
    token.select()
  } catch {
    say('The dashboard is not responding.')
  }
}

function say(words: string): void {
  error.textContent = words
  token.setAttribute('aria-invalid', String(words !== ''))
}
