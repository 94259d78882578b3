import '../design/tokens.css'
import '../design/base.css'
import '../design/controls.css'
import { render } from 'preact'
import { NavigationProvider } from '../data/navigation.tsx'
import { App } from './app.tsx'
import { followDashboard } from '../data/live.ts'
import { KeysProvider } from '../design/keys.tsx'
import { PreferencesProvider, keptPreferences } from './preferences.tsx'

const root = document.getElementById('app')
if (root === null) throw new Error('the page has no place for the app')
const preferences = keptPreferences()
render(
  <PreferencesProvider preferences={preferences}>
    <KeysProvider choice={preferences.keys}>
      <NavigationProvider>
        <App />
      </NavigationProvider>
    </KeysProvider>
  </PreferencesProvider>,
  root,
)
followDashboard()
