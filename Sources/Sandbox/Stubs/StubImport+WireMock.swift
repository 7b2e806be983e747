import Foundation
import HTTPTypes
import JSONValues

// Imports stub mappings of WireMock 3, according to its documentation "Stubbing", "Request matching", "Simulating
// faults" and "Response templating". A mapping that no rule can represent exactly is not imported, but reported.
extension StubImport {
    /// Adds the mappings of files, each a mapping or a list below `mappings`. They are sorted by priority; of equal
    /// priorities the last one is first.
    ///
    /// - Parameter bodies: Returns the file of a body by its name; nil if there is none.
    mutating func add(
        wireMock files: [(name: String, value: JSONValue)],
        bodies: (String) -> Data? = { _ in nil }
    ) throws(ControlProblem) {
        var mappings: [(source: String, mapping: JSONObject)] = []
        for (name, value) in files {
            guard let object = value.object, object["mappings"] != nil || object["request"] != nil else {
                throw .invalid(field: "wiremock", value: name, accepted: ["a mapping, or an object with mappings"])
            }
            for (index, item) in (object["mappings"]?.array ?? [value]).enumerated() {
                let own = Self.withBody(item.object ?? JSONObject(), bodies)
                mappings.append(("\(name)#\(own["name"]?.string ?? "\(index)")", own))
            }
        }
        let order = mappings.reversed().enumerated().sorted {
            (Self.priority($0.element.mapping), $0.offset) < (Self.priority($1.element.mapping), $1.offset)
        }
        for (source, mapping) in order.map(\.element) {
            add(source) { () throws(Unmapped) in try Self.rule(of: mapping) }
        }
    }

    /// Returns a mapping into which the file of its body, if any, was copied.
    private static func withBody(_ mapping: JSONObject, _ bodies: (String) -> Data?) -> JSONObject {
        guard var response = mapping["response"]?.object, let name = response["bodyFileName"]?.string,
            let body = bodies(name)
        else { return mapping }
        response["bodyFileName"] = nil
        if let text = String(validating: body, as: UTF8.self) {
            response["body"] = .string(text)
        } else {
            response["base64Body"] = .string(body.base64EncodedString())
        }
        var mapping = mapping
        mapping["response"] = .object(response)
        return mapping
    }

    private static func priority(_ mapping: JSONObject) -> Double { mapping["priority"]?.double ?? 5 }

    private static func rule(of mapping: JSONObject) throws(Unmapped) -> Rule.Definition {
        let known: Set = [
            "id", "uuid", "name", "priority", "persistent", "insertionIndex", "metadata", "request", "response",
        ]
        try refuse(mapping, but: known, at: "")
        let request = mapping["request"]?.object ?? JSONObject()
        let response = mapping["response"]?.object ?? JSONObject()
        return Rule.Definition(
            match: try match(request),
            faults: [try faults(of: response)],
            respond: try self.response(response)
        )
    }

    /// - Throws: ``Unmapped`` with the first member that no rule can represent.
    private static func refuse(_ object: JSONObject, but known: Set<String>, at place: String) throws(Unmapped) {
        if let other = object.members.first(where: { !known.contains($0.name) }) {
            throw Unmapped(source: "", member: place + other.name)
        }
    }
}

// MARK: - Requests

extension StubImport {
    private static let urls = ["url", "urlPath", "urlPathTemplate", "urlPathPattern", "urlPattern"]

    private static func match(_ request: JSONObject) throws(Unmapped) -> RequestMatch {
        let others: Set = ["method", "headers", "queryParameters", "bodyPatterns", "basicAuthCredentials", "basicAuth"]
        try refuse(request, but: others.union(urls), at: "request/")
        var match = RequestMatch()
        if let method = request["method"]?.string, method != "ANY" { match.method = method.uppercased() }
        for name in urls {
            if let text = request[name]?.string { try addPath(text, name, to: &match) }
        }
        match.query += try conditions(request["queryParameters"], at: "request/queryParameters/")
        match.header = try conditions(request["headers"], at: "request/headers/").map {
            .init(name: $0.name.lowercased(), value: $0.value)
        }
        if let login = (request["basicAuth"] ?? request["basicAuthCredentials"])?.object {
            let pair = "\(login["username"]?.string ?? ""):\(login["password"]?.string ?? "")"
            let value = "Basic \(Data(pair.utf8).base64EncodedString())"
            match.header.append(.init(name: "authorization", value: .equal(value)))
        }
        match.body = try body(request["bodyPatterns"]?.array ?? [])
        return match
    }

    private static func addPath(_ text: String, _ name: String, to match: inout RequestMatch) throws(Unmapped) {
        let target = RequestTarget(text)
        match.isWhole = true
        match.path = target.segments
        switch name {
        case "url":
            match.query = target.query.map { .init(name: $0.name, value: .equal($0.value)) }
            match.exactQuery = true
        case "urlPathTemplate": match.path = target.segments.map { $0.hasPrefix("{") ? "*" : $0 }
        case "urlPathPattern", "urlPattern":
            guard name == "urlPathPattern" || !reachesQuery(text), let pattern = TextPattern(text) else {
                throw Unmapped(source: "", member: "request/\(name)")
            }
            (match.path, match.isWhole, match.pathPattern) = ([], false, pattern)
            match.exactQuery = name == "urlPattern" && ![".*", ".+"].contains(where: text.hasSuffix)
        default: break
        }
    }

    /// Whether a pattern for a whole target also matches a query or percent-encoded text, for which rules have no
    /// patterns.
    private static func reachesQuery(_ pattern: String) -> Bool {
        // Not every "?" counts, since it is also a quantifier.
        pattern.contains(/\\\?|\[[^\]]*\?|=|&|%/)
    }

    /// Reads the conditions of fields or parameters that rules can represent.
    private static func conditions(_ value: JSONValue?, at place: String) throws(Unmapped) -> [RequestMatch.Named] {
        var named: [RequestMatch.Named] = []
        for member in value?.object?.members ?? [] {
            let pattern = member.value.object?.members ?? []
            switch (pattern.count, pattern.first?.name, pattern.first?.value) {
            case (1, "equalTo", .string(let text)): named.append(.init(name: member.name, value: .equal(text)))
            case (1, "absent", .bool(true)): named.append(.init(name: member.name, value: .absent))
            case (1, "anything", .bool(true)), (1, "matches", .string(".*")), (1, "matches", .string(".+")):
                named.append(.init(name: member.name, value: .present))
            case (1, "matches", .string(let text)): named.append(try matching(text, member.name, place))
            case (1, "contains", .string(let text)):
                let part = NSRegularExpression.escapedPattern(for: text)
                named.append(try matching("(?s).*\(part).*", member.name, place))
            default: throw Unmapped(source: "", member: place + member.name)
            }
        }
        return named
    }

    private static func matching(_ text: String, _ name: String, _ place: String) throws(Unmapped)
        -> RequestMatch.Named
    {
        guard let pattern = TextPattern(text) else { throw Unmapped(source: "", member: place + name) }
        return .init(name: name, value: .pattern(pattern))
    }

    private static func body(_ patterns: [JSONValue]) throws(Unmapped) -> RequestMatch.Body? {
        guard let pattern = patterns.first?.object else { return nil }
        guard patterns.count == 1 else { throw Unmapped(source: "", member: "request/bodyPatterns/1") }
        if let text = pattern["contains"]?.string, pattern.members.count == 1 { return .contains(text) }
        // A rule always accepts further members of objects.
        if let value = pattern["equalToJson"], pattern["ignoreExtraElements"]?.bool == true,
            pattern["ignoreArrayOrder"]?.bool != true
        {
            guard let text = value.string else { return .json(value) }
            if let parsed = JSONValue(json: text.utf8) { return .json(parsed) }
        }
        throw Unmapped(source: "", member: "request/bodyPatterns/0/\(pattern.members.first?.name ?? "")")
    }
}

// MARK: - Responses

extension StubImport {
    private static let members: Set = [
        "status", "statusMessage", "headers", "body", "jsonBody", "base64Body", "fixedDelayMilliseconds",
        "delayDistribution", "chunkedDribbleDelay", "fault", "transformers",
    ]

    private static func response(_ response: JSONObject) throws(Unmapped) -> StubResponse {
        try refuse(response, but: members, at: "response/")
        let transformers = response["transformers"]?.array?.compactMap(\.string) ?? []
        guard Set(transformers).isSubset(of: ["response-template"]) else {
            throw Unmapped(source: "", member: "response/transformers")
        }
        let status = response["status"]?.double.flatMap { Int(exactly: $0) } ?? 200
        guard (200...599).contains(status) else { throw Unmapped(source: "", member: "response/status") }
        var stub = StubResponse(status: status, isTemplate: !transformers.isEmpty)
        for field in response["headers"]?.object?.members ?? [] {
            for value in field.value.array ?? [field.value] {
                stub.header.append(.init(name: field.name, value: value.string ?? value.excerpt))
            }
        }
        if let value = response["jsonBody"] { stub.body = .json(value) }
        if let text = response["body"]?.string { stub.body = .text(text) }
        if let text = response["base64Body"]?.string {
            guard let data = Data(base64Encoded: text) else {
                throw Unmapped(source: "", member: "response/base64Body")
            }
            stub.body = .bytes(Array(data))
        }
        return stub.isTemplate ? try translated(stub) : stub
    }

    /// Replaces the placeholders of Handlebars by those of stubs.
    private static func translated(_ stub: StubResponse) throws(Unmapped) -> StubResponse {
        var stub = stub
        let replace = { (text: String) in
            text.replacing(/\{\{\{?\s*(.*?)\s*\}\}\}?/) { "{{\(placeholder(String($0.output.1)))}}" }
        }
        for index in stub.header.indices {
            stub.header[index] = .init(name: stub.header[index].name, value: replace(stub.header[index].value))
        }
        if case .text(let text) = stub.body { stub.body = .text(replace(text)) }
        if case .json(let value) = stub.body { stub.body = .json(value.mapStrings(replace)) }
        do throws(ControlProblem) {
            try StubTemplate.check(stub)
        } catch {
            throw Unmapped(source: "", member: "response: \(error.detail)")
        }
        return stub
    }

    private static func placeholder(_ text: String) -> String {
        if let found = text.wholeMatch(of: /jsonPath request\.body ['"]\$((?:\.\w+)+)['"]/) {
            return "body" + found.output.1.replacing(".", with: "/")
        }
        if let found = text.wholeMatch(of: /request\.(?:path|pathSegments)\.\[(\d+)\]/) {
            return "path.\(found.output.1)"
        }
        if let found = text.wholeMatch(of: /request\.query\.([\w-]+)/) { return "query.\(found.output.1)" }
        if let found = text.wholeMatch(of: /request\.headers\.([\w-]+)/) { return "header.\(found.output.1)" }
        return ["request.method": "method", "request.path": "path", "request.body": "body", "now": "now"][text] ?? text
    }

    private static func faults(of response: JSONObject) throws(Unmapped) -> FaultPlan {
        var faults: [Fault] = []
        if let delay = try time("fixedDelayMilliseconds", of: response, at: "response/") {
            faults.append(.slow(milliseconds: delay))
        }
        if let spread = response["delayDistribution"]?.object {
            faults.append(try delay(spread))
        }
        if let dribble = response["chunkedDribbleDelay"]?.object {
            let length = response["body"]?.string?.utf8.count ?? response["jsonBody"]?.serialized().count ?? 0
            let place = "response/chunkedDribbleDelay/"
            let chunks = max(1, try time("numberOfChunks", of: dribble, at: place) ?? 1)
            let total = try time("totalDuration", of: dribble, at: place) ?? 0
            faults.append(.slice(bytes: max(1, length / chunks), milliseconds: total / chunks))
        }
        if let name = response["fault"]?.string {
            let known: [String: Fault] = [
                "EMPTY_RESPONSE": .offline, "CONNECTION_RESET_BY_PEER": .offline,
                "MALFORMED_RESPONSE_CHUNK": .truncated, "RANDOM_DATA_THEN_CLOSE": .garbage,
            ]
            guard let fault = known[name] else { throw Unmapped(source: "", member: "response/fault") }
            faults.append(fault)
        }
        guard !faults.isEmpty else { return .online }
        do throws(FaultSyntaxError) {
            return try FaultPlan(combining: faults)
        } catch {
            throw Unmapped(source: "", member: "response: \(error.text) at once")
        }
    }

    private static func delay(_ spread: JSONObject) throws(Unmapped) -> Fault {
        let place = "response/delayDistribution/"
        switch spread["type"]?.string {
        case "lognormal":
            let median = try number("median", of: spread, at: place, in: 0...Double(Fault.longestDelay)) ?? 0
            let sigma = try number("sigma", of: spread, at: place, in: 0...10) ?? 0
            return .delayed(.lognormal(median: median, sigma: sigma))
        case "uniform":
            let least = try time("lower", of: spread, at: place) ?? 0
            let most = try time("upper", of: spread, at: place) ?? least
            guard least <= most else { throw Unmapped(source: "", member: "\(place)upper") }
            return .jitter(milliseconds: least...most, seed: 1)
        default: throw Unmapped(source: "", member: "response/delayDistribution")
        }
    }

    /// Returns a number of at most ``Fault/longestDelay``; nil if there is none.
    private static func time(_ name: String, of object: JSONObject, at place: String) throws(Unmapped) -> Int? {
        try number(name, of: object, at: place, in: 0...Double(Fault.longestDelay)).map { Int($0) }
    }

    /// - Throws: ``Unmapped`` if the value is not a number of that range.
    private static func number(
        _ name: String,
        of object: JSONObject,
        at place: String,
        in range: ClosedRange<Double>
    ) throws(Unmapped) -> Double? {
        guard let value = object[name], value != .null else { return nil }
        guard let number = value.double, range.contains(number) else {
            throw Unmapped(source: "", member: place + name)
        }
        return number
    }
}
