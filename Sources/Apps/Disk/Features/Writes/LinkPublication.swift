import Concurrency
import Foundation
import Screens
import Upstream

/// Publishes a file or folder, and gives its link an end. The API takes and tells ends in calls of their own, and
/// ignores one that is sent with the publication: whether a link has the end that was asked for is read back.
struct LinkPublication: Sendable {
    let calls: WriteCalls
    let path: DiskPath
    let account: DiskAccount
    /// The item before its publication.
    let subject: DiskItem?
    let clock: WallClock

    private var hasLink: Bool { subject?.publicURL != nil }

    /// Sends the calls that lack for the wish.
    ///
    /// - Throws: As ``WriteSender/send()`` does; 403 `upstream-forbidden` if the link does not get the end: then
    ///   something that was not public is not public.
    func send(_ wish: LinkEnd) async throws -> WriteSender.Outcome {
        if let end = wish.date, end <= clock.now() { throw Problem(.outboxState, .linkTimeOver) }
        if hasLink {
            let present = try await calls.call(about: path, account) { try await calls.linkEnd(path, account) }
            guard wish.missing(from: present, at: clock.now()) != nil else { return .unneeded(present) }
        }
        return try await calls.call(about: path, account) {
            do {
                if !hasLink {
                    let outcome = try await authorized { try await calls.client.publish(path, $0) }
                    if case .underWay(let operation) = outcome { return .underWay(operation, nil) }
                }
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, nil)
            }
            return try await finish(wish)
        }
    }

    /// Gives a public link its end. Without it, something that was not public before is withdrawn.
    private func finish(_ wish: LinkEnd) async throws -> WriteSender.Outcome {
        do {
            return .published(try await give(wish))
        } catch  where !hasLink && wish == .unspecified {
            // Any end will do, and it is public.
            return .published(.unspecified)
        } catch  where subject?.isPublished != true {
            do {
                _ = try await authorized { try await calls.client.unpublish(path, $0) }
            } catch let failure as UpstreamError where failure.leavesOutcomeUnknown {
                return .unknown(failure, nil)
            }
            throw error
        } catch let error as UpstreamError where error.leavesOutcomeUnknown {
            return .unknown(error, nil)
        }
    }

    private func give(_ wish: LinkEnd) async throws -> LinkEnd {
        let present = try await calls.linkEnd(path, account)
        guard let missing = wish.missing(from: present, at: clock.now()) else { return present }
        do {
            try await authorized { try await calls.client.setLinkEnd(missing, of: path, $0) }
        } catch let refusal as DiskRefusal where refusal.concernsSettings {
            throw refused
        }
        guard try await calls.linkEnd(path, account) == missing else { throw refused }
        return missing
    }

    private var refused: Problem {
        Problem(
            .upstreamForbidden,
            .linkEndRefused(calls.client.title, isShared: subject?.isPublished == true),
            upstream: .init(name: calls.client.upstream.configuration.name),
            href: path.link(to: "/v1/disk/file")
        )
    }

    private func authorized<Value: Sendable>(_ call: @escaping @Sendable (String) async throws -> Value) async throws
        -> Value
    {
        try await calls.tokens.authorized(account, call)
    }
}
