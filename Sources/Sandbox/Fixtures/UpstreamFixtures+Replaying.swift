import HTTPTypes

// Responses from files, and changes of responses.
extension UpstreamFixtures {
    /// Requests without a file that are kept.
    private static let mostUnmatched = 20
    /// Near misses that are shown.
    private static let mostShown = 5
    /// The field of a response that says from which file it is.
    static let mark = HTTPField.Name("Fixture")

    /// Returns the recorded response to a request; nil if there is none.
    ///
    /// Of several for equal requests each is used once, in their order; the last one for all further requests.
    package func reply(to request: FixtureRequest) -> FixtureResponse? {
        let compared = ComparedRequest(request, cleaner)
        let (reply, failure) = withFiles { state -> (FixtureResponse?, FixtureDefect?) in
            let matching = state.folder?.exchanges.filter { $0.match.differences(from: compared).isEmpty } ?? []
            let demand = matching.map(\.match.demand).max()
            let best = matching.filter { $0.match.demand == demand }
            guard let folder = state.folder?.url,
                let fixture = best.first(where: { state.uses[$0.name] == nil }) ?? best.last
            else { return (nil, nil) }
            do throws(YAMLDefect) {
                var response = try fixture.response(in: folder)
                state.uses[fixture.name, default: 0] += 1
                if let mark = Self.mark { response.headerFields[mark] = fixture.name }
                return (response, nil)
            } catch {
                return (nil, FixtureDefect(file: fixture.name, defect: error))
            }
        }
        if let failure { report("\(name): \(failure.text)") }
        return reply.map { $0.conditional(on: request) }
    }

    /// Returns the response to a request that has no file: 404 with what the files nearest to it have.
    package func refusal(of request: FixtureRequest) -> FixtureResponse {
        let compared = ComparedRequest(request, cleaner)
        let line = "\(compared.line.method) \(compared.line.origin)\(compared.line.path)"
        let (misses, broken) = withFiles { state in
            let misses = Self.nearMisses(compared, state.folder?.exchanges ?? [])
            state.unmatched.append(["request": .string(line), "near_misses": .array(misses)])
            state.unmatched.removeFirst(max(0, state.unmatched.count - Self.mostUnmatched))
            return (misses, state.folder?.defects ?? [])
        }
        report("\(name): no recording of \(line)")
        let problem: JSONValue = [
            "type": "urn:larder:sandbox:problem:not-recorded", "title": "Not recorded", "status": 404,
            "detail": .string("There is no recording of \(line)."), "code": "not-recorded",
            "upstream": .string(name), "near_misses": .array(misses), "broken": .array(broken.map(\.json)),
        ]
        let fields: HTTPFields = [.contentType: "application/problem+json", .cacheControl: "no-store"]
        return FixtureResponse(status: .notFound, headerFields: fields, content: .bytes(problem.serialized()))
    }

    /// The nearest first.
    private static func nearMisses(_ request: ComparedRequest, _ fixtures: [Fixture]) -> [JSONValue] {
        let compared = fixtures.map { (fixture: $0, differences: $0.match.differences(from: request)) }
        return compared.map { (item: $0, distance: $0.differences.reduce(0) { $0 + $1.weight }) }
            .sorted { $0.distance < $1.distance }.prefix(mostShown).map { miss in
                [
                    "file": .string(miss.item.fixture.name), "request": .string(miss.item.fixture.match.line),
                    "differences": .array(miss.item.differences.map(\.json)),
                ]
            }
    }

    /// Changes a response by the patches whose requests match, one after the other in the order of their names.
    ///
    /// - Parameter body: Returns the response with its whole body, if a patch needs it.
    package func modify(
        _ response: inout FixtureResponse,
        to request: FixtureRequest,
        collecting body: (inout FixtureResponse) async throws -> Void
    ) async rethrows {
        let line = FixtureMatch.Line("\(request.method.rawValue) \(request.target)")
        let matched = MatchedRequest(
            method: line.method,
            path: line.target.segments,
            query: line.target.query,
            headers: request.headerFields,
            body: request.body?.start ?? []
        )
        let patches = withFiles { $0.folder?.patches ?? [] }.filter { $0.match.matches(matched) }
        if patches.contains(where: \.changesBody) { try await body(&response) }
        for patch in patches {
            do {
                try patch.apply(to: &response)
                if let mark = Self.mark { response.headerFields[mark] = patch.name }
            } catch {
                report("\(name): \(patch.name) does not fit the response to \(line.method) \(line.path): \(error)")
            }
        }
    }
}

extension FixtureResponse {
    /// Returns 304 if the request has the entity tag or the date of this response (RFC 9110 section 13).
    fileprivate func conditional(on request: FixtureRequest) -> FixtureResponse {
        guard status == .ok, request.method == .get || request.method == .head else { return self }
        let isSame: Bool
        if let condition = request.headerFields[.ifNoneMatch] {
            let tag = headerFields[.eTag].map { $0.hasPrefix("W/") ? String($0.dropFirst(2)) : $0 }
            isSame = tag.map { EntityTag.matches(condition, tag: $0) } ?? false
        } else {
            let date = request.headerFields[.ifModifiedSince]
            isSame = date != nil && date == headerFields[.lastModified]
        }
        guard isSame else { return self }
        var fields = headerFields
        for name in [.contentLength, .contentType] as [HTTPField.Name] { fields[name] = nil }
        return FixtureResponse(status: .notModified, headerFields: fields, content: .bytes([]))
    }
}
