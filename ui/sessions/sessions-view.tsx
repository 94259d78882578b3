import './sessions.css'
import { useNavigation } from '../data/navigation.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { SessionsList } from './sessions-list.tsx'

const SessionView = lazyPart(async () => (await import('./session-view.tsx')).SessionView)

/** The view that lists the runs of agents, or shows one of them. */
export function SessionsView() {
  const { session } = useNavigation().address
  return session === null ? <SessionsList /> : <SessionView key={session} session={session} />
}
