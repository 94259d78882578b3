/** @import { ErrorBody } from '../src/api/error-body.ts' */
import { part, say } from './page-part.js'

const token = part('token', HTMLInputElement)
const trouble = part('sign-in-trouble', HTMLElement)

// The page's policy lets no form submit itself, so that a token can never end up in an address.
part('sign-in', HTMLFormElement).addEventListener('submit', (event) => {
  event.preventDefault()
  void signIn()
})

async function signIn() {
  say(trouble, null)
  try {
    const response = await fetch('/api/session', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token: token.value }),
    })
    if (response.ok) {
      location.replace('/')
      return
    }
    /** @type {ErrorBody} */
    const { error } = await response.json()
    say(trouble, error.message)
    token.select()
  } catch {
    say(trouble, 'The dashboard did not answer.')
  }
}
