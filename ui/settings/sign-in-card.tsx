import { act } from '../data/dashboard-api.ts'
import { Button } from '../design/button.tsx'
import { Card } from '../design/card.tsx'

/** The card that signs this browser out. */
export function SignInCard() {
  return (
    <Card title="Sign-in">
      <div class="row wraps">
        <p class="quiet fine">A browser that signed in with the admin token stays signed in for 30 days.</p>
        <Button class="at-end" onClick={() => void act('DELETE', '/api/session').then(reload, reload)}>
          Sign out
        </Button>
      </div>
    </Card>
  )
}

/** Reloads after a failed request, too, because the page may have reloaded itself before the answer came. */
function reload(): void {
  location.reload()
}
