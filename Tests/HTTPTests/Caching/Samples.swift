import Foundation
import HTTPTypes

@testable import HTTP

/// Messages around one moment: Sunday, 6 November 2033, 08:49:37 GMT.
enum Sample {
    static let now = Date(timeIntervalSince1970: 2_014_966_177)
    static let url = "http://origin.example/things/1"
    static let shared = CachingRules(cacheName: "larder")
    static let own = CachingRules(cacheName: "larder", shared: false)
    static let lastGood = CachingRules(cacheName: "larder", lastGood: true)

    static func date(_ offset: Double = 0) -> String {
        HTTPDate.format(now.addingTimeInterval(offset))
    }

    /// A stored response received `age` seconds ago, made at that moment unless its fields give another date.
    static func stored(
        _ fields: HTTPFields,
        age: Double = 0,
        status: HTTPResponse.Status = .ok,
        varying: HTTPFields = [:]
    ) -> CachedResponseHead {
        var fields = fields
        let received = now.addingTimeInterval(-age)
        if !fields.contains(.date) { fields[.date] = HTTPDate.format(received) }
        return CachedResponseHead(
            url: url,
            varyingFields: varying,
            status: status,
            headerFields: fields,
            requestTime: received,
            responseTime: received
        )
    }

    static func request(_ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: "http",
            authority: "origin.example",
            path: "/things/1",
            headerFields: fields
        )
    }

    static func response(_ fields: HTTPFields = [:], status: HTTPResponse.Status = .ok) -> HTTPResponse {
        HTTPResponse(status: status, headerFields: fields)
    }

    static func lines(_ name: HTTPField.Name, _ values: String...) -> HTTPFields {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: name, value: value)) }
        return fields
    }
}

extension HTTPField.Name {
    /// Returns a field name made for a test.
    static func made(_ name: String) -> HTTPField.Name {
        HTTPField.Name(name) ?? .from
    }
}

extension CachingRules {
    func storability(
        _ fields: HTTPFields,
        status: HTTPResponse.Status = .ok,
        to request: HTTPRequest = Sample.request()
    ) -> Storability {
        storability(
            of: Sample.response(fields, status: status),
            to: request,
            url: Sample.url,
            requestTime: Sample.now,
            responseTime: Sample.now
        )
    }

    func decision(_ request: HTTPFields = [:], for stored: CachedResponseHead...) -> Decision {
        decision(for: Sample.request(.get, request), candidates: stored, now: Sample.now)
    }
}

extension Storability {
    var refusal: Refusal? {
        if case .refuse(let refusal) = self { refusal } else { nil }
    }
    var stored: CachedResponseHead? {
        if case .store(let stored) = self { stored } else { nil }
    }
}

extension Decision {
    var served: Reuse? {
        if case .serve(let reuse) = self { reuse } else { nil }
    }
    var validation: Validation? {
        if case .validate(let validation) = self { validation } else { nil }
    }
}

extension CachingRules {
    func freshness(of stored: CachedResponseHead, at now: Date) -> Freshness {
        freshness(
            of: stored,
            directives: ResponseDirectives(stored.headerFields, policy: self),
            age: stored.age(at: now),
            at: now
        )
    }
}
