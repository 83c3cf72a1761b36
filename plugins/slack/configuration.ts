/** Owns what is configured of a Slack workspace. */

import { checkDefaultTo } from '@reveille/kit'
import { parseTarget } from './target.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface SlackConfig {
  readonly botToken: string
  readonly defaultTo?: string
  readonly format: 'markdown' | 'mrkdwn'
  readonly linkPreviews: boolean
  readonly baseUrl: string
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: SlackConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
}
