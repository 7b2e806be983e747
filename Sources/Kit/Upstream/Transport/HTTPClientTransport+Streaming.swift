import AsyncHTTPClient
import Concurrency
import HTTPTypes
import NIOCore

extension HTTPClientTransport {
    /// Returns a configuration for streams: many connections at a time, since a stream holds one for as long as its
    /// client likes. Idle connections are closed before common servers close theirs (5 s), so that few requests meet a
    /// connection that is about to end.
    static func forStreaming(_ configuration: HTTPClient.Configuration) -> HTTPClient.Configuration {
        var configuration = configuration
        configuration.connectionPool.idleTimeout = .seconds(4)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return configuration
    }

    /// Sends one request over the network with bodies in parts. What is not read of the response is not fetched.
    ///
    /// - Throws: Why there is no head of a response.
    public func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        let listener = request.interim.map(listeners.add) ?? 0
        defer { if listener > 0 { listeners.remove(listener) } }
        var outgoing = try Self.request(
            request.method,
            request.url,
            request.headerFields,
            listener: listener,
            within: limits
        )
        var client = limits.publicAddressesOnly ? publicStreaming : streaming
        var resending = Resending(request.method)
        if let body = request.body {
            let lane = (limits.publicAddressesOnly ? publicUploads : uploads).next()
            client = lane.client
            resending = .never
            let length = request.bodyLength.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
            outgoing.body = .stream(Self.marked(body).paced(by: lane.caughtUp), length: length)
        }
        do {
            let response = try await execute(outgoing, on: client, resending, within: limits)
            let status = try Self.status(of: response)
            return StreamedResponse(
                status: status,
                headerFields: Self.fields(response.headers),
                body: Self.body(of: response, status: status)
            )
        } catch is PrivateAddress {
            throw .forbiddenTarget("an address that is not public")
        } catch is RequestCutShort {
            throw .badResponse(status: nil, reason: UpstreamError.requestCutShort)
        } catch {
            throw Self.beforeHead(error)
        }
    }

    /// Marks failures of the client's body, to tell them from the upstream's.
    private static func marked(_ body: ByteStream) -> ByteStream {
        ByteStream {
            let iterator = body.makeAsyncIterator()
            return {
                do {
                    return try await iterator.next()
                } catch {
                    throw RequestCutShort()
                }
            }
        }
    }
}

/// The client stopped sending.
private struct RequestCutShort: Error {}
