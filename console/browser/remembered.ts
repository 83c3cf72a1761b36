/** The browser's memory of one operator: display settings only, never a token or anything received. */

const prefix = 'reveille-'

export function remembered(name: string): string | undefined {
  return localStorage.getItem(prefix + name) ?? undefined
}

export function remember(name: string, value: string): void {
  localStorage.setItem(prefix + name, value)
}
