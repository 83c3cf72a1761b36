/** Describes the configuration of the rehearsal plugin. */

export interface RehearsalConfig {
  readonly folder: string
  readonly defaultTo?: string
  readonly apiKey?: string
  readonly clings?: boolean
}
