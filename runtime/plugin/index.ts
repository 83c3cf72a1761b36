/** The plugin host's public face. */

export {
  type ChannelOffer,
  type ConfigurationCheck as Examiner,
  type OfferedKey,
  offerOf,
  tryChannel,
} from './commands/channel-offer.ts'
export { checkPlugins } from './commands/check.ts'
export { builtInSetups, registrationOf, setupOf } from './commands/setup-description.ts'
export {
  type Connector,
  createConnector,
  type StartedSource,
  startSource,
} from './commands/source-setup.ts'
export { withPluginContent } from './configuration/content.ts'
export {
  diagnosticsOf,
  located,
  type PluginProblem,
  PluginSetupError,
} from './configuration/setup-error.ts'
export { prepareCandidate } from './host/candidate.ts'
export type { LiveProvider, LiveSource } from './host/handles.ts'
export {
  createPluginHost,
  type PluginHost,
  type PluginHostOptions,
} from './host/host.ts'
