/** Owns what is configured of a Mattermost server. */

import { checkDefaultTo } from '@reveille/kit'
import { parseTarget } from './target.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface MattermostConfig {
  readonly baseUrl: string
  readonly token: string
  readonly defaultTo?: string
  readonly linkPreviews: boolean
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: MattermostConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
}
