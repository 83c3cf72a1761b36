/** Light and dark: as the system says, unless the switch was used, which this browser remembers. */

import { signal } from '@preact/signals'
import { remember, remembered } from './remembered.ts'

export type Theme = 'system' | 'light' | 'dark'

const themes: readonly Theme[] = ['system', 'light', 'dark']

export const theme = signal<Theme>(themes.find((known) => known === remembered('theme')) ?? 'system')

export function applyTheme(): void {
  document.documentElement.style.colorScheme = theme.value === 'system' ? '' : theme.value
}

export function setTheme(next: Theme): void {
  theme.value = next
  remember('theme', next)
  applyTheme()
}
