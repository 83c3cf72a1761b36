/** Owns what is configured of a BlueBubbles server. */

import { checkDefaultTo } from '@reveille/kit'
import { parseTarget } from './target.ts'

/** As `config.schema.json` lets it through. */
export interface IMessageConfig {
  readonly baseUrl: string
  readonly password: string
  readonly defaultTo?: string
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: IMessageConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
}
