/** VitePress's default theme, with more room for code and diagrams. */

import DefaultTheme from 'vitepress/theme'
import './style.css'

export default DefaultTheme
