/** Owns what is configured of a bot on Discord. */

import { checkDefaultTo } from '@reveille/kit'
import { parseTarget } from './target.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface DiscordConfig {
  readonly botToken: string
  readonly baseUrl: string
  readonly defaultTo?: string
  readonly linkPreviews: boolean
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: DiscordConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
}
