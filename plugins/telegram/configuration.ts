/** Owns what is configured of a bot, and the address of its methods, which is as secret as its token. */

import { checkDefaultTo, urlBelow } from '@reveille/kit'
import { parseTarget } from './target.ts'

export type Format = 'html' | 'plain' | 'rich'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface TelegramConfig {
  readonly botToken: string
  readonly defaultTo?: string
  readonly format: Format
  readonly linkPreviews: boolean
  readonly baseUrl: string
}

/** The token stands in the path (Bot API, "Making requests"): what this answers must reach no log and no error. */
export function secretUrlOf({ baseUrl, botToken }: TelegramConfig, method: string): string {
  return urlBelow(baseUrl, `/bot${botToken}/${method}`)
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: TelegramConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
}
