/** Starts the console: the theme first, so that nothing flashes, then the frame with the page of the address. */

import './style/main.css'
import { render } from 'preact'
import { checkSession } from './app/session.tsx'
import { Shell } from './app/shell.tsx'
import { startRouter } from './browser/router.ts'
import { applyTheme } from './browser/theme.ts'

applyTheme()
startRouter()
void checkSession()
render(<Shell />, document.body)
