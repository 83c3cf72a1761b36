/** What this browser remembers of one operator: choices of looks alone, never a token and nothing that was received. */

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
