/** Owns what is configured of a BlueBubbles server. */

import { targetOf } from './target.ts'

/** As `config.schema.json` lets it through. */
export interface IMessageConfig {
  /** A slash at its end does no harm. */
  readonly baseUrl: string
  readonly password: string
  readonly defaultTo?: string
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: IMessageConfig): void {
  if (defaultTo !== undefined) targetOf(defaultTo, '`defaultTo` is no address')
}
