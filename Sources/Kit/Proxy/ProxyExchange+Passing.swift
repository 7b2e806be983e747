import Concurrency
import Database
import Foundation
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Upstream

extension ProxyExchange {
    /// Passes the upstream's response on. What it means for stored responses comes first (RFC 9111 §4.4), and it is
    /// stored on its way.
    mutating func pass() async throws -> Progress {
        guard let received = forwarded else { return .event(.failed(.notStored)) }
        let forwarded = try await recordEffects(of: received)
        let stored = try await storedHead(of: forwarded)
        var head = forwarded.head
        HopByHop.remove(from: &head.headerFields)
        rules.account(of: plan.reason, upstreamStatus: head.status.code, stored: stored != nil)
            .append(to: &head.headerFields, cacheName: rules.cacheName)
        if request.cacheKeyRequest.method == .head || head.status == .noContent || head.status == .notModified {
            try await drain(forwarded)
            complete(await save(stored, Data(), from: forwarded))
            return .response(ProxyResponse(head: head, body: .none))
        }
        guard let stored else {
            flight?.complete(.notStored)
            let body = ProxyResponse.Body.stream(forwarded.response.body, length: forwarded.announced)
            return .response(ProxyResponse(head: head, body: body))
        }
        if let range = stored.parts?.ranges.first {
            let body = storingPart(stored, range, from: forwarded)
            return .response(ProxyResponse(head: head, body: .stream(body, length: range.count)))
        }
        guard let length = forwarded.announced, length <= BlobStore.inlineLimit else {
            let body = storing(stored, from: forwarded)
            return .response(ProxyResponse(head: head, body: .stream(body, length: forwarded.announced)))
        }
        return try await passWhole(head, length, storing: stored, from: forwarded)
    }

    /// Receives a small response whole before any of it is sent: requests that wait for it do not wait for this client,
    /// and if it breaks off, the client has seen no part of it.
    private func passWhole(
        _ head: HTTPResponse,
        _ length: Int,
        storing stored: CachedResponseHead,
        from forwarded: ForwardedResponse
    ) async throws -> Progress {
        let bytes: ByteBuffer
        do {
            bytes = try await forwarded.response.body.collect(upTo: length)
            guard bytes.readableBytes == length else {
                throw StorageError.incompleteBody(expected: length, received: bytes.readableBytes)
            }
        } catch {
            try Task.checkCancellation()
            let status = forwarded.response.status
            client.recordBrokenBody()
            flight?.complete(.failed(.badResponse(status: status, reason: UpstreamError.cutShort)))
            return .event(.brokeOff(status))
        }
        complete(await save(stored, Data(bytes.readableBytesView), from: forwarded))
        return .response(ProxyResponse(head: head, body: .bytes(bytes)))
    }

    /// Returns the body of a response that is stored while the client reads it.
    private func storing(_ stored: CachedResponseHead, from forwarded: ForwardedResponse) -> ByteStream {
        let (mount, request, flight) = (mount, request, flight)
        let tee = CachingBodyTee(
            to: mount.store.blobs,
            expectedLength: forwarded.announced,
            limit: mount.store.largestBody,
            remains: { writer, received in
                guard let beginning = mount.rules.beginning(of: stored, received: received) else { return }
                mount.keep(writer, beginning, 0..<received, for: request, from: forwarded)
            },
            save: { body in try await mount.store.save(stored, body, for: request, from: forwarded) }
        )
        return tee.passing(forwarded.response.body) { outcome in
            switch outcome {
            case .stored:
                flight?.complete(.stored)
                return
            case .tooLarge: await mount.removeSuperseded(by: request)
            case .notStored(let error): mount.logUnstored(error)
            case .brokenOff: mount.upstream.client.recordBrokenBody()
            case .wrongLength, .wrongChecksum: break
            }
            flight?.complete(.notStored)
        }
    }

    /// Stores a body that is in memory.
    ///
    /// - Returns: Whether it was stored. A response that cannot be stored is sent all the same.
    private func save(_ stored: CachedResponseHead?, _ bytes: Data, from forwarded: ForwardedResponse) async -> Bool {
        guard let stored else { return false }
        do {
            try await store.save(stored, .bytes(bytes), for: request, from: forwarded)
            return true
        } catch {
            mount.logUnstored(error)
            return false
        }
    }

    private func complete(_ isStored: Bool) {
        flight?.complete(isStored ? .stored : .notStored)
    }
}

extension Mount {
    /// Removes what a response supersedes that turned out to be too large.
    fileprivate func removeSuperseded(by request: ProxiedRequest) async {
        do {
            try await store.removeSuperseded(by: request)
        } catch {
            logUnstored(error)
        }
    }

    /// Logs that a response was sent without being stored.
    func logUnstored(_ error: any Error) {
        upstream.logger.warning("a response could not be stored", metadata: ["error": "\(error)"])
    }
}
