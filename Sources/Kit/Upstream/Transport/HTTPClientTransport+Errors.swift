import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension HTTPClientTransport {
    /// Translates an error that occurred before a response had begun.
    static func beforeHead(_ error: any Error) -> UpstreamError {
        switch error {
        case let error as UpstreamError:
            return error
        case let error as HTTPClientError:
            return .unreachable(reason(of: error))
        case let error as NIOConnectionError:
            let resolved = !error.connectionErrors.isEmpty
            return .unreachable(
                resolved ? error.connectionErrors.lazy.map { reason(of: $0.error) }.first ?? .refused : .nameResolution
            )
        case is HTTPParserError:
            return .badResponse(status: nil, reason: "not HTTP")
        case is ClosedConnection:
            return .unreachable(.reset)
        case is StalledExchange:
            return .unreachable(.totalTimeout)
        case let violation as ResponseSequence.Violation:
            return .badResponse(status: nil, reason: violation.description)
        case is NIOHTTPDecoderError:
            // Bytes after the previous response on a kept-alive connection: another connection may work.
            return .badResponse(status: nil, reason: UpstreamError.cutShort)
        default:
            return .unreachable(reason(of: error))
        }
    }

    /// Translates an error that occurred after the head: the upstream is there, but the response cannot be used.
    static func whileReading(_ error: any Error, status: HTTPResponse.Status) -> UpstreamError {
        if let error = error as? HTTPClientError, [.deadlineExceeded, .cancelled].contains(error) {
            return .unreachable(.totalTimeout)
        }
        if error is CancellationError || error is StalledExchange { return .unreachable(.totalTimeout) }
        if let error = error as? UpstreamError { return error }
        return .badResponse(status: status, reason: UpstreamError.cutShort)
    }

    private static func reason(of error: any Error) -> UnreachableReason {
        switch error {
        case let error as HTTPClientError: return reason(of: error)
        case is CancellationError: return .totalTimeout
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: return .tls
        case let error as ChannelError:
            if case .connectTimeout = error { return .connectTimeout }
            return .reset
        case let error as IOError:
            switch error.errnoCode {
            case ECONNREFUSED: return .refused
            case ECONNRESET, EPIPE: return .reset
            case ETIMEDOUT: return .connectTimeout
            default: return .network
            }
        default:
            // NIO's own name resolution errors (SocketAddressError.unknown) are the only others seen here.
            return error is SocketAddressError ? .nameResolution : .network
        }
    }

    private static func reason(of error: HTTPClientError) -> UnreachableReason {
        switch error {
        case .connectTimeout: .connectTimeout
        case .tlsHandshakeTimeout: .tls
        case .deadlineExceeded, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout, .cancelled: .totalTimeout
        case .remoteConnectionClosed, .uncleanShutdown: .reset
        default: .network
        }
    }
}

extension UpstreamError {
    /// The reason for a response that ended before its announced length.
    public static let cutShort = "the response was truncated"
}
