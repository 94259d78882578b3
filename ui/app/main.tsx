import '../design/tokens.css'
import '../design/design.css'
import { render } from 'preact'
import { followDashboard } from '../data/live.ts'
import { followHistory } from '../data/navigation.tsx'
import { followKeys } from '../design/keys.ts'
import { App } from './app.tsx'
import { followTheme, keptKeys } from './preferences.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the app')
followTheme()
followKeys(() => keptKeys.current === 'on')
followHistory()
render(<App />, root)
followDashboard()
