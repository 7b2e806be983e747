import Concurrency
import Database
import HTTPCaching
import HTTPSemantics
import HTTPTypes
import NIOCore
import ResponseStore
import Upstream

extension ProxyExchange {
    /// Requests the bytes that are missing, and makes the response of them and of what is stored (RFC 9111 §3.4).
    mutating func complete(_ completion: Completion) async throws -> Progress {
        var fields = request.fields
        completion.apply(to: &fields)
        let forwarded: ForwardedResponse
        do throws(UpstreamError) {
            forwarded = try await forward(fields)
        } catch {
            try Task.checkCancellation()
            return .event(.failed(error))
        }
        let outcome = rules.outcome(
            of: completion,
            response: forwarded.head,
            request: request.cacheKeyRequest,
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        switch outcome {
        // Its body is not read, which ends the connection: it can be as long as the client's own request is.
        case .retry: return .event(.unreadable)
        case .pass:
            self.forwarded = forwarded
            return .event(.responded(forwarded.response.status, nil))
        case .combined(let head): return try await serveCombined(completion, head, forwarded)
        }
    }

    /// Makes the response of stored bytes and of those that arrive, which are stored on their way.
    private func serveCombined(
        _ completion: Completion,
        _ head: CachedResponseHead,
        _ forwarded: ForwardedResponse
    ) async throws -> Progress {
        let (stored, missing) = (candidates[completion.index], completion.missing)
        let length = head.parts?.completeLength ?? 0
        let wanted = head.bytes(for: request, of: length)
        guard wanted.lowerBound <= missing.lowerBound, missing.upperBound <= wanted.upperBound,
            let before = try await store.openParts(of: stored, wanted.lowerBound..<missing.lowerBound),
            let after = try await store.openParts(of: stored, missing.upperBound..<wanted.upperBound)
        else { return .event(.unreadable) }
        var arriving = forwarded.response.body
        let part = try await storedHead(of: forwarded)
        if let part { arriving = storingPart(part, missing, from: forwarded) }
        var response = served(
            rules.reuse(of: head, at: completion.index, now: now),
            .parts([], length: length),
            as: rules.account(of: .partial, upstreamStatus: 206, stored: part != nil),
            isOffline: false
        )
        let body = ByteStream(joining: [ByteStream(before), arriving, ByteStream(after)])
        response.body = .stream(body, length: wanted.count)
        return .response(response)
    }

    /// Returns the body of a part that is stored while the client reads it; what has arrived of it if it ends early.
    func storingPart(_ part: CachedResponseHead, _ range: Range<Int>, from forwarded: ForwardedResponse) -> ByteStream {
        let (mount, request) = (mount, request)
        let tee = CachingBodyTee(
            to: mount.store.blobs,
            expectedLength: range.count,
            limit: mount.store.largestBody,
            remains: { writer, received in
                guard received < range.count else { return }
                let beginning = range.lowerBound..<(range.lowerBound + received)
                mount.keep(writer, part, beginning, for: request, from: forwarded)
            },
            save: { body in
                try await mount.store.savePart(part, range, body, for: request, from: forwarded, by: mount.rules)
            }
        )
        return tee.passing(forwarded.response.body) { outcome in
            switch outcome {
            case .notStored(let error): mount.logUnstored(error)
            case .brokenOff: mount.upstream.client.recordBrokenBody()
            case .stored, .tooLarge, .wrongLength, .wrongChecksum: break
            }
        }
    }
}

extension Mount {
    /// Stores the received part of a body that ended early, or whose client has disconnected.
    func keep(
        _ writer: BodyWriter,
        _ head: CachedResponseHead,
        _ range: Range<Int>,
        for request: ProxiedRequest,
        from forwarded: ForwardedResponse
    ) {
        background.start { [self] in
            do {
                let body = try writer.finish()
                try await store.savePart(head, range, body, for: request, from: forwarded, by: rules)
            } catch {
                logUnstored(error)
            }
        }
    }
}
