import HTTPTypes
import JSONValues
import Synchronization

/// The mock data service from which the notes app gets its people (Mockaroo, `GET /api/{schema}?count=&key=`), and a
/// host of avatars, with made data.
///
/// As in the real service, every call invents new people, and their ids are the numbers of their rows: a second call
/// gives the same ids to other people. The responses to a wrong key, a spent quota or a wrong count are not documented;
/// their shapes here are assumed.
final class People: SimulatedUpstream {
    let name = SandboxUpstream.people.rawValue
    private let seed: UInt64
    private let state: Mutex<State>

    /// Set by tests.
    struct State: Sendable, Codable {
        /// Number of calls that returned people so far; the next call is seeded with it.
        var calls: UInt64 = 0
        /// Calls that are left today; the free plan has 200.
        var left = 200
        /// The key that is accepted; nil if any key, or none, is accepted.
        var key: String?
        /// Returned by every call instead of new people.
        var data: JSONValue?
    }

    init(seed: UInt64) {
        self.seed = seed
        state = Mutex(State())
    }

    func reset() { state.withLock { $0 = State() } }

    func save() -> any Sendable { state.withLock { $0 } }

    func restore(_ saved: any Sendable) {
        if let saved = saved as? State { state.withLock { $0 = saved } }
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let method = request.method == .head ? .get : request.method
        switch (method, request.path.first, request.path.count) {
        case (.get, "api", 2): return people(request)
        case (.get, "avatars", 2): return avatar(request)
        case (.get, nil, 0): return .text(.ok, "Mock data\n")
        default: return .json(.notFound, ["error": "Not found"])
        }
    }

    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse? {
        status.kind == .clientError ? .json(status, ["error": .string("Refused with \(status.code)")]) : nil
    }

    private func people(_ request: UpstreamRequest) -> UpstreamResponse {
        let values = request.query.values
        guard let count = Int(values["count"] ?? "120"), count >= 1 else {
            return .json(.badRequest, ["error": "count must be a positive number"])
        }
        let key = values["key"] ?? request.headers[.name("X-API-Key")]
        return state.withLock { state in
            if let accepted = state.key, accepted != key { return .json(.unauthorized, ["error": "Invalid API Key"]) }
            guard state.left > 0 else {
                return .json(.tooManyRequests, ["error": "You have reached the request limit of your plan for today."])
            }
            state.left -= 1
            state.calls += 1
            let rows: JSONValue
            if let data = state.data {
                rows = data
            } else {
                let draw = SplitMix64.value(seed: seed, index: state.calls)
                let people = (1...min(count, Self.mostRows)).map { MadePerson.row($0, draw: draw) }
                // The service sends a single row as an object, not as a list of one.
                rows = count == 1 ? people[0] : .array(people)
            }
            return Self.json(rows.mapStrings { $0.replacing(ShipRecords.originMarker, with: request.origin) })
        }
    }

    private static let mostRows = 5_000

    /// Encodes JSON as Rails does, with an escaped ampersand.
    private static func json(_ value: JSONValue) -> UpstreamResponse {
        let escaped = value.serialized().flatMap { $0 == UInt8(ascii: "&") ? Array(#"\u0026"#.utf8) : [$0] }
        return UpstreamResponse(status: .ok, headers: [.contentType: "application/json; charset=utf-8"], body: escaped)
    }

    /// Any text has a picture, as with RoboHash. It is always a PNG here, whatever extension the name has.
    private func avatar(_ request: UpstreamRequest) -> UpstreamResponse {
        let size = request.query.first { $0.name == "size" }?.value.split(separator: "x").compactMap { Int($0) } ?? []
        let side = min(max(size.first ?? 300, 1), 1_024)
        let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "public,max-age=31536000"]
        return UpstreamResponse(
            status: .ok,
            headers: fields,
            body: RobotPicture.png(text: request.path[1], side: side, seed: seed)
        )
    }

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        switch request.path {
        case ["account"]: return try setAccount(request)
        case ["people"]:
            try request.require(.put)
            let data = try request.json()
            state.withLock { $0.data = data == .null ? JSONValue?.none : .some(data) }
            return .json(.ok, ["people": .integerOrNull(data.array?.count)])
        default:
            throw .nothing(at: ["people"] + request.path)
        }
    }

    private func setAccount(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        try request.require(.put)
        guard let account = try request.json().object else {
            throw Self.unacceptable(request, accepted: [#"{"key":"…","left":200}"#])
        }
        for member in account.members {
            switch (member.name, member.value) {
            case ("key", .string(let key)): state.withLock { $0.key = key }
            case ("key", .null): state.withLock { $0.key = nil }
            case ("left", .number(let spelling)):
                guard let left = Int(spelling), left >= 0 else { fallthrough }
                state.withLock { $0.left = left }
            default: throw Self.unacceptable(request, accepted: [#"{"key":"…","left":200}"#])
            }
        }
        return .json(.ok, ["left": .integer(state.withLock { $0.left })])
    }

    private static func unacceptable(_ request: ControlRequest, accepted: [String]) -> ControlProblem {
        .invalid(field: "body", value: String(decoding: request.body.prefix(60), as: UTF8.self), accepted: accepted)
    }
}

/// One invented row of the people API.
enum MadePerson {
    /// Row `number` of the call that drew `draw`: the same number is another person in another call.
    static func row(_ number: Int, draw: UInt64) -> JSONValue {
        let pick = { (purpose: UInt64, count: Int) in
            SplitMix64.number(seed: draw, index: UInt64(number) &* 16 &+ purpose, below: count)
        }
        let first = firstNames[pick(1, firstNames.count)]
        let last = lastNames[pick(2, lastNames.count)]
        let letters = last.lowercased().filter { $0.isASCII && $0.isLetter }
        // The initial, the last name, and the number of the row before in base 36.
        let mailbox = "\(first.lowercased().prefix(1))\(letters)\(String(number - 1, radix: 36))"
        let text = (0...pick(3, 3)).map { latin[pick(8 + UInt64($0), latin.count)] }.joined()
        return [
            "id": .integer(number), "first_name": .string(first), "last_name": .string(last),
            "email": .string("\(mailbox)@\(domains[pick(4, domains.count)])"),
            "gender": .string(genders[pick(5, genders.count)]),
            "avatar": .string("{origin}/people/avatars/\(text).png?size=50x50&set=set1"),
        ]
    }

    private static let firstNames = [
        "Abel", "Adela", "Alina", "Ansel", "Astrid", "Beatriz", "Benno", "Brita", "Calla", "Cosmo", "Dagny", "Darian",
        "Delphine", "Edda", "Emeric", "Esme",
        "Fabian", "Felka", "Gideon", "Greta", "Hanno", "Helga", "Idris", "Ilse", "Ivo", "Jolanda", "Jorn", "Kasimir",
        "Kirsi", "Lambert", "Leonie", "Lutz",
        "Magda", "Marek", "Nadja", "Niels", "Oda", "Orson", "Pavla", "Piet", "Quirin", "Ragna", "Renke", "Roswitha",
        "Sander", "Signe", "Tamsin", "Tilo",
        "Ulrike", "Urs", "Valda", "Viggo", "Wanda", "Wendel", "Xenia", "Yorick", "Yvette", "Zelda", "Zeno", "émile",
    ]
    private static let lastNames = [
        "Abelard", "Ashdown", "Bellweather", "Brackwater", "Calder", "Cobblepot", "Dahlquist", "De Winter", "Eastlake",
        "Elmhurst", "Fairbrook", "Fennimore",
        "Garland", "Goldthwaite", "Harrowgate", "Hollis", "Inglewood", "Ivers", "Jessop", "Kestrel", "Kingsley",
        "Le Marchant", "Lindqvist", "Longbottom",
        "Marlowe", "Merryweather", "Northcott", "O'Dare", "Oakes", "Pemberley", "Penhallow", "Quillfeather",
        "Ravenscroft", "Rowntree", "Saltmarsh",
        "Stjernfelt", "Thistlewood", "Tremaine", "Underhill", "Van Der Meer", "Vantongeren", "Westergaard",
        "Wintergreen", "Yarrow", "Zieliński",
    ]
    private static let genders = [
        "Female", "Male", "Female", "Male", "Female", "Male", "Non-binary", "Agender", "Genderfluid",
    ]
    private static let domains = ["example.com", "example.net", "example.org", "mail.example.com", "corp.example.org"]
    private static let latin = [
        "ab", "aliquid", "animi", "aut", "dolor", "earum", "et", "facere", "hic", "ipsum", "nemo", "odio", "quas",
        "rerum", "sit", "velit",
    ]
}

/// A drawing of a robot's head whose colours and face follow from a text and the sandbox's seed.
enum RobotPicture {
    /// - Parameter side: Width and height in pixels, at least 1.
    static func png(text: String, side: Int, seed: UInt64) -> [UInt8] {
        let draw = PictureDraws(of: text, seed: seed)
        let palette = [
            PNG.Color(red: 245, green: 245, blue: 245),
            draw.color(1, red: (60, 180), green: (60, 180), blue: (60, 180)),
            PNG.Color(red: 255, green: draw.shade(4, 200, 55), blue: draw.shade(5, 0, 160)),
            PNG.Color(red: 40, green: 40, blue: 48),
        ]
        let (eyes, mouth, antenna) = (32 + draw(6, 14), 66 + draw(7, 10), 20 + draw(8, 60))
        let grin = 10 + draw(9, 20)
        var pixels = [UInt8](repeating: 0, count: side * side)
        for row in 0..<side {
            for column in 0..<side {
                // In hundredths of the side.
                let (x, y) = (column * 100 / side, row * 100 / side)
                pixels[row * side + column] =
                    switch true {
                    case abs(x - 30) < 8 && abs(y - eyes) < 7 || abs(x - 70) < 8 && abs(y - eyes) < 7: 2
                    case abs(x - 50) < grin && abs(y - mouth) < 4: 3
                    case (12..<88).contains(x) && (18..<90).contains(y): 1
                    case abs(x - antenna) < 3 && y < 18: 3
                    default: 0
                    }
            }
        }
        return PNG.encode(width: side, height: side, palette: palette, pixels: pixels)
    }
}
