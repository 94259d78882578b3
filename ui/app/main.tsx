import '../design/tokens.css'
import '../design/design.css'
import { render } from 'preact'
import { followDashboard } from '../data/live.ts'
import { followHistory } from '../data/navigation.tsx'
import { report } from '../data/report.ts'
import { followKeys } from '../design/keys.ts'
import { Report } from '../report/report.tsx'
import { App } from './app.tsx'
import { followTheme, keptKeys } from './preferences.ts'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the app')
if (report !== null) render(<Report report={report} />, root)
else {
  followTheme()
  followKeys(() => keptKeys.current === 'on')
  followHistory()
  render(<App />, root)
  followDashboard()
}
