/**
 * Owns the message that reaches people who have not written for 24 hours: an approved template with the reply as the one
 * variable of its body.
 *
 * Source: developers.facebook.com/docs/whatsapp/cloud-api, "Message templates".
 */

import { oneLine } from '@reveille/kit'

export interface TemplateConfig {
  readonly name: string
  readonly language: string
  /** The variable's name. Default: it has none and is the first. */
  readonly parameter?: string
}

/** A body has 1024 characters with its variable filled in; the rest is for the template's own words. UTF-16 units. */
const longestVariable = 900

export interface FilledTemplate {
  readonly template: object
  /** Whether it says all that the text says. */
  readonly isWhole: boolean
}

/** A variable may hold no line break, no tab and no row of spaces: the text becomes one line. */
export function fillTemplate({ name, language, parameter }: TemplateConfig, text: string): FilledTemplate {
  const line = oneLine(text, longestVariable)
  const variable = {
    type: 'text',
    ...(parameter !== undefined && { parameter_name: parameter }),
    text: line,
  }
  const components = [{ type: 'body', parameters: [variable] }]
  return {
    template: { name, language: { code: language }, components },
    isWhole: line === oneLine(text, Number.POSITIVE_INFINITY),
  }
}
