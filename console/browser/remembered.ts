/** The browser's memory of one operator: display settings only, never a token or anything received. */

const prefix = 'reveille-'

export function remembered(name: string): string | undefined {
  try {
    return localStorage.getItem(prefix + name) ?? undefined
  } catch {
    // Storage may be switched off.
    return undefined
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value)
  } catch {
    // The choice then holds until the page is left.
  }
}
