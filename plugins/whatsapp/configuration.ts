/** Owns what is configured of a business number on WhatsApp. */

import { checkDefaultTo } from '@reveille/kit'
import { parseTarget } from './target.ts'
import type { TemplateConfig } from './template.ts'

/** As `config.schema.json` lets it through, its defaults filled in. */
export interface WhatsAppConfig {
  readonly accessToken: string
  readonly phoneNumberId: string
  readonly apiVersion: string
  readonly baseUrl: string
  readonly defaultTo?: string
  readonly linkPreviews: boolean
  readonly template?: TemplateConfig
}

/** @throws PluginError `bad-target` where `defaultTo` is no address of this channel */
export function checkConfiguration({ defaultTo }: WhatsAppConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
}
