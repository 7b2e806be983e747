import Cluster
import Foundation
import HTTPTypes
import TestKit
import Testing
import Upstream

@testable import Screens
@testable import Storage

struct ProblemTests {
    /// The codes that are no app's own; see "Problems" in docs/contract.md.
    private static let statuses: [Int: Set<String>] = [
        400: ["malformed-request", "malformed-json", "invalid-parameter"],
        401: [
            "session-required", "session-expired", "invalid-credentials", "upstream-session-expired",
            "pairing-required",
        ],
        403: [
            "upstream-forbidden", "host-not-allowed", "origin-not-allowed", "pairing-refused",
            "local-only", "profile-not-allowed",
        ],
        404: ["not-found"],
        405: ["method-not-allowed"],
        408: ["request-timeout"],
        409: ["target-exists", "idempotency-key-in-use", "confirmation-required", "pairing-unavailable"],
        412: ["precondition-failed"], 413: ["too-large", "too-many-pages"], 414: ["target-too-long"],
        415: ["unsupported-media-type"],
        416: ["bad-range"], 421: ["misdirected-request"],
        422: ["validation-failed", "idempotency-key-reused", "damaged", "encrypted", "timed-out"],
        429: ["rate-limited"],
        431: ["headers-too-large"],
        500: ["internal", "storage-failed"], 501: ["tool-missing"], 502: ["upstream-bad-response", "outcome-unknown"],
        503: [
            "upstream-unavailable", "offline-write-refused", "overloaded", "processing-unavailable",
            "store-unavailable",
        ],
        504: ["not-in-cache"], 507: ["upstream-storage-full", "storage-full", "quota-exceeded"],
    ]

    @Test("SRV-06 Every code has the status of the contract, and there is no other code")
    func statuses() {
        let table = Dictionary(grouping: ProblemCode.common, by: \.status.code).mapValues { Set($0.map(\.rawValue)) }
        #expect(table.filter { Self.statuses[$0.key] != nil } == Self.statuses)
        #expect(table.values.reduce(0) { $0 + $1.count } == ProblemCode.common.count)
    }

    @Test("SRV-06 A problem byte for byte", arguments: ProblemCode.common)
    func document(code: ProblemCode) throws {
        let text = String(
            decoding: try ProblemDocument(Problem(code, "What happened."), instance: "/v1/x").bytes(),
            as: UTF8.self
        )
        let retryable: Set<ProblemCode> = [
            .rateLimited, .upstreamBadResponse, .upstreamUnavailable, .offlineWriteRefused, .overloaded,
            .processingUnavailable, .notInCache, .requestTimeout, .storageFailed, .storeUnavailable,
            .idempotencyKeyInUse,
        ]
        let expected = [
            #"{"code":"\#(code.rawValue)","detail":"What happened.","#,
            #""dialog":{"buttons":["OK"],"message":"\#(code.title.english).","title":"Error"},"#,
            #""errors":[],"instance":"/v1/x","offline":false,"#,
            #""retryable":\#(retryable.contains(code)),"state":"error","status":\#(code.status.code),"#,
            #""title":"\#(code.title.english)","type":"urn:larder:problem:\#(code.rawValue)","upstream":null}"#,
        ]
        #expect(try text.sortedJSON == expected.joined())
    }

    @Test("Everything that a problem may carry")
    func full() throws {
        let problem = Problem(
            .validationFailed,
            "D",
            offline: true,
            upstream: .init(name: "spacex"),
            errors: [.field("/a", "required", "a is required."), .parameter("limit", "invalid", "b")],
            dialog: .init(title: "T", message: "M", buttons: ["Yes", "No"])
        )
        let text = try String(decoding: ProblemDocument(problem, instance: "/").bytes(), as: UTF8.self).sortedJSON
        #expect(text.contains(#""dialog":{"buttons":["Yes","No"],"message":"M","title":"T"}"#))
        let errors =
            #""errors":[{"code":"required","detail":"a is required.","pointer":"/a"},"#
            + #"{"code":"invalid","detail":"b","parameter":"limit"}]"#
        #expect(text.contains(errors))
        #expect(text.contains(#""upstream":{"name":"spacex","status":null}"#))
        #expect(text.contains(#""offline":true"#) && !text.contains("href"))
        let unknown = ProblemDocument(Problem(.outcomeUnknown, "D", href: "/v1/x?path=a"), instance: "/")
        #expect(String(decoding: try unknown.bytes(), as: UTF8.self).contains(#""href":"/v1/x?path=a""#))
    }

    @Test("TRUST-02 a full disk and data that cannot be used have problems of their own, without paths")
    func storage() {
        let full = Problem(StorageError.diskFull(path: "/data/larder.sqlite"))
        #expect(full?.code == .storageFull && full?.detail.english.contains("deleted to make room") == true)
        let broken: [StorageError] = [
            .inputOutput(path: "/data", operation: "SQLite", code: 10), .notWritable(path: "/data"),
            .databaseBusy(path: "/data"), .damagedDatabase(path: "/data", detail: "page 1"),
            .blobUnavailable(BlobID(number: 7)),
        ]
        for error in broken {
            let problem = Problem(error)
            #expect(problem?.code == .storageFailed && problem?.detail.english.contains("/data") == false)
        }
        #expect(Problem(StorageError.bodyAlreadyFinished) == nil)
        let unstored = Problem(.storageFailed(isFull: true), upstream: "spacex", title: "SpaceX")
        #expect(unstored.code == .storageFull && unstored.upstream == nil && !unstored.offline)
        #expect(Problem(.storageFailed(isFull: false), upstream: "s", title: "S").code == .storageFailed)
    }

    @Test("A store that does not respond is 503 with Retry-After, an unconfirmed change 502, without their causes")
    func sharedStore() {
        let away = Problem(.unavailable(.notReached("host=10.0.0.1 password=secret")))
        #expect(away?.code == .storeUnavailable && away?.headerFields[.retryAfter] == "2")
        #expect(away?.detail.english.contains("secret") == false)
        #expect(Problem(ClusterError.outcomeUnknown)?.code == .outcomeUnknown)
        #expect(Problem(ClusterError.diskFull)?.code == .storageFull)
        #expect(Problem(ClusterError.textNotStorable) == nil)
    }

    @Test("A 401 says how to authenticate", arguments: ProblemCode.common)
    func authenticate(code: ProblemCode) {
        #expect((Problem(code, "").headerFields[.wwwAuthenticate] == "Bearer") == (code.status == .unauthorized))
    }

    @Test("If Larder logs in at the upstream, its 401 is the end of the session; else it means nothing to the client")
    func upstreamSession() {
        let error = UpstreamError.rejected(status: .unauthorized, body: [])
        #expect(
            Problem(error, upstream: "yandex_disk", title: "Yandex Disk", hasSessions: true).code
                == .upstreamSessionExpired
        )
        #expect(Problem(error, upstream: "spacex", title: "SpaceX").code == .upstreamBadResponse)
    }

    @Test(
        "SRV-05 What an upstream did becomes the right problem",
        arguments: [
            (UpstreamError.unreachable(.refused), ProblemCode.upstreamUnavailable, true),
            (.rejected(status: .unauthorized, body: []), .upstreamBadResponse, false),
            (.rejected(status: .forbidden, body: []), .upstreamForbidden, false),
            (.rejected(status: .notFound, body: []), .notFound, false),
            (.rejected(status: .gone, body: []), .notFound, false),
            (.rejected(status: .contentTooLarge, body: []), .upstreamBadResponse, false),
            (.rejected(status: .badRequest, body: []), .upstreamBadResponse, false),
            (.failing(status: .tooManyRequests, retryAfter: 7), .rateLimited, false),
            (.failing(status: .serviceUnavailable, retryAfter: nil), .upstreamUnavailable, false),
            (.failing(status: .init(code: 507), retryAfter: nil), .upstreamStorageFull, false),
            (.badResponse(status: .ok, reason: "not JSON"), .upstreamBadResponse, false),
            (.forbiddenTarget("host evil.test"), .upstreamBadResponse, false), (.notStored, .notInCache, false),
        ]
    )
    func upstreamErrors(error: UpstreamError, code: ProblemCode, offline: Bool) {
        let problem = Problem(error, upstream: "spacex", title: "SpaceX")
        #expect(problem.code == code && problem.offline == offline)
        #expect(problem.upstream == .init(name: "spacex", status: error.status?.code))
        if case .failing(_, let seconds?) = error {
            #expect(problem.headerFields[.retryAfter] == String(seconds))
        } else {
            #expect(problem.headerFields[.retryAfter] == nil)
        }
    }
}
