/** The runtime's public face: a gateway to embed. */

export {
  ConfigurationError,
  createGateway,
  type Gateway,
  type GatewayOptions,
} from './gateway.ts'
export { ListenError, type ListenErrorCode } from './http/index.ts'
