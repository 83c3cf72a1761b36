/** Owns the names that need no `plugins:` entry, and the packages behind them. Not all are installed everywhere. */

const channels = [
  'whatsapp',
  'telegram',
  'discord',
  'slack',
  'mattermost',
  'signal',
  'imessage',
  'msteams',
  'terminal',
] as const

const runners = ['echo', 'ai', 'command', 'openclaw'] as const

const sources = ['gmail'] as const

export const builtIn = { channels, runners, sources } as const

export function packageOf(name: string): string {
  return `@reveille/plugin-${name}`
}
