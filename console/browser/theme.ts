/** Light and dark: as the system says, unless the switch was used, which this browser remembers. */

import { signal } from '@preact/signals'
import { remember, remembered } from './remembered.ts'

export type Theme = 'system' | 'light' | 'dark'

const themes: readonly Theme[] = ['system', 'light', 'dark']

export const theme = signal<Theme>(themes.find((known) => known === remembered('theme')) ?? 'system')

/** The style sheet reads `data-theme`; without it the system decides. */
export function applyTheme(): void {
  const { dataset } = document.documentElement
  if (theme.value === 'system') delete dataset['theme']
  else dataset['theme'] = theme.value
}

export function setTheme(next: Theme): void {
  theme.value = next
  remember('theme', next)
  applyTheme()
}
