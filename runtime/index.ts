/** The runtime's public face: a gateway to embed. */

export {
  ConfigurationError,
  createGateway,
  type Gateway,
  GatewayError,
  type GatewayErrorCode,
  type GatewayOptions,
} from './gateway.ts'
