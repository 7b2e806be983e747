import Foundation
import JSONValues
import Screens

/// A note that is to be added.
struct NoteDraft: Sendable, Equatable {
    let body: String
    /// Without a name, if the file has none.
    let location: Note.Location
    /// The name of its place, if the file has none.
    var address: String?
    let created: Date?
    let modified: Date?
}

/// The notes of a file: Larder's own form, GeoJSON or GPX, whichever its first character tells.
struct NoteFile: Sendable {
    /// The faults of a file that a problem names at most.
    private static let mostFaults = 20

    private(set) var notes: [NoteDraft] = []
    /// Parts of the file that are no notes: tracks, routes, lines and areas.
    private(set) var leftOut = 0
    private let title: String
    private let pointer: String
    private let mostNotes: Int
    private var faults: [Problem.FieldError] = []

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - title: its name, for problems.
    ///   - index: its position among the files of the request.
    ///   - mostNotes: the most that it may have.
    /// - Throws: ``Problem``: 415 for another form, 422 `damaged` for a file that cannot be read, 422
    ///   `validation-failed` for notes that cannot be, 413 if there are too many.
    init(_ bytes: Data, title: String, index: Int, mostNotes: Int) throws {
        (self.title, pointer, self.mostNotes) = (title, "/files/\(index)", mostNotes)
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes
        switch start.first(where: { !" \t\r\n".utf8.contains($0) }) {
        case UInt8(ascii: "{"): try readJSON(bytes)
        case UInt8(ascii: "<"): try readGPX(bytes)
        default: throw problem(.unsupportedMediaType, .noFormOfNotes(title))
        }
        guard faults.isEmpty else { throw Problem.validation(faults) }
    }

    private func problem(_ code: ProblemCode, _ detail: Text) -> Problem {
        Problem(code, detail, errors: [.field(pointer, code.rawValue, detail)])
    }

    /// Adds a note, or the reasons why it is none.
    ///
    /// - Parameters:
    ///   - fields: the members of a note as Larder's own form has them.
    ///   - place: its place in the file.
    ///   - isOwn: whether the members are those of the file.
    fileprivate mutating func add(_ fields: JSONObject, at place: Text, isOwn: Bool = false) throws {
        do {
            notes.append(try NoteDraft(fields))
        } catch let problem as Problem {
            for fault in problem.errors {
                let member = isOwn ? fault.pointer ?? "" : ""
                let detail: Text = "\(title), \(place)\(member): \(fault.detail)"
                faults.append(.field(pointer, fault.code, detail))
            }
        }
        try checkCount()
    }

    private func checkCount() throws {
        guard faults.count < Self.mostFaults else { throw Problem.validation(faults) }
        guard notes.count <= mostNotes else { throw problem(.tooLarge, .tooManyNotes(title, mostNotes)) }
    }

    fileprivate mutating func fail(_ place: Text, _ reason: Text) throws {
        faults.append(.field(pointer, "invalid", "\(title), \(place): \(reason)"))
        try checkCount()
    }
}

extension NoteDraft {
    /// Reads the members of a note in Larder's own form.
    ///
    /// - Throws: ``Problem``, 422 that names every fault.
    init(_ fields: JSONObject) throws {
        let changes = try NoteChanges(JSONFields(fields), isNew: true)
        let location = changes.location ?? .unknown
        body = changes.body ?? ""
        // The name of no place is in the language of the file.
        self.location = location.isUnknown ? .unknown : location
        address = nil
        created = try Self.time("created_at", fields)
        modified = try Self.time("modified_at", fields)
    }

    private static func time(_ name: String, _ fields: JSONObject) throws -> Date? {
        switch fields[name] {
        case nil, .null: return nil
        case .string(let text):
            if let time = Date(timestamp: text) { return time }
            fallthrough
        default: throw Problem.validation([.field("/\(name)", "invalid", .noTime)])
        }
    }
}

extension Note.Location {
    fileprivate var isUnknown: Bool {
        coordinate == .zero && [Text.unknownLocation.english, Text.unknownLocation.russian].contains(name)
    }
}

extension Date {
    /// Reads a time of ISO 8601 with or without a zone, as `2026-01-05T14:59:00+03:00`; without one it is UTC. Years
    /// are from 1600 to 9999. Nil for other texts.
    init?(timestamp text: String) {
        let pattern =
            #/
            ([0-9]{4}) - ([0-9]{2}) - ([0-9]{2}) [Tt\x20] ([0-9]{2}) : ([0-9]{2})
            (?: :([0-9]{2}) (?: [.,] ([0-9]{1,9}) )? )? \s?
            (Z | z | [+\-] [0-9]{2} :? [0-9]{2})?
            /#
        guard let found = text.trimmingCharacters(in: .whitespacesAndNewlines).wholeMatch(of: pattern) else {
            return nil
        }
        let numbers = [found.1, found.2, found.3, found.4, found.5, found.6 ?? "0"].compactMap { Int($0) }
        let zone = (found.8 ?? "Z").filter { $0 != ":" }
        let (hours, minutes) = (Int(zone.dropFirst().prefix(2)) ?? 0, Int(zone.suffix(2)) ?? 0)
        guard numbers.count == 6, numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60, hours < 24, minutes < 60 else {
            return nil
        }
        let (year, month) = (numbers[0] - (numbers[1] < 3 ? 1 : 0), (numbers[1] + 9) % 12)
        let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + numbers[2] - 1 - 719_468
        let offset = (hours * 60 + minutes) * (zone.first == "-" ? -60 : 60)
        let seconds = days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
        guard CivilTime(Date(timeIntervalSince1970: Double(seconds - offset))) != nil else { return nil }
        let fraction = found.7.flatMap { Double("0.\($0)") } ?? 0
        // Dates that do not exist, such as 30 February, become others.
        guard let day = CivilTime(Date(timeIntervalSince1970: Double(days) * 86_400)),
            (day.year, day.month, day.day) == (numbers[0], numbers[1], numbers[2])
        else { return nil }
        self.init(timeIntervalSince1970: Double(seconds - offset) + fraction)
    }
}

// MARK: JSON

extension NoteFile {
    private mutating func readJSON(_ bytes: Data) throws {
        let root: JSONObject
        do {
            root = try JSONFields(bytes, named: title).values
        } catch let error as Problem {
            throw problem(.damaged, error.detail)
        }
        switch (root["notes"], root["type"], root["features"]) {
        case (.array(let records), _, _):
            for (number, record) in records.enumerated() {
                let place: Text = "/notes/\(number)"
                guard case .object(let members) = record else {
                    try fail(place, .noObject)
                    continue
                }
                try add(members, at: place, isOwn: true)
            }
        case (_, .string("FeatureCollection"), .array(let features)):
            for (number, feature) in features.enumerated() { try read(feature, at: "/features/\(number)") }
        case (_, .string("Feature"), _): try read(.object(root), at: "/")
        default: throw problem(.unsupportedMediaType, .noFormOfNotes(title))
        }
    }

    /// Reads a feature of GeoJSON.
    private mutating func read(_ feature: JSONValue, at place: Text) throws {
        guard case .object(let members) = feature else { return try fail(place, .noObject) }
        var properties = JSONObject()
        if case .object(let own) = members["properties"] { properties = own }
        var position: [Double]?
        switch members["geometry"] {
        case nil, .null: break
        case .object(let geometry) where geometry["type"] == .string("Point"):
            position = geometry["coordinates"]?.numbers
            guard let position, position.count >= 2 else { return try fail(place, .noCoordinates) }
        case .object(let geometry) where geometry["type"] != nil:
            leftOut += 1
            return
        default: return try fail(place, .noGeometry)
        }
        try add(fields(of: properties, at: position.map { ($0[1], $0[0]) }), at: place)
    }

    private func fields(of properties: JSONObject, at position: (Double, Double)?)
        -> JSONObject
    {
        let text = { (names: [String]) in names.compactMap { properties[$0]?.visibleText } }
        var point = ForeignPoint(
            name: text(["name", "title"]).first,
            texts: text(["description", "desc", "comment", "cmt", "note", "text"]),
            position: position
        ).fields
        if properties["body"] != nil {
            point["body"] = properties["body"]
            point["location"] = position.map { ForeignPoint.location($0, named: properties["place"]) }
            for name in ["created_at", "modified_at"] { point[name] = properties[name] }
        } else if let time = properties["time"]?.visibleText, Date(timestamp: time) != nil {
            point["created_at"] = .string(time)
        }
        return point
    }
}

/// A point of a file of another program as members of a note. No text of it is lost.
private struct ForeignPoint {
    let name: String?
    let texts: [String]
    let position: (latitude: Double, longitude: Double)?

    static func location(_ position: (latitude: Double, longitude: Double), named name: JSONValue?)
        -> JSONValue
    {
        ["lat": .number("\(position.latitude)"), "lon": .number("\(position.longitude)"), "name": name ?? .null]
    }

    var fields: JSONObject {
        var texts: [String] = []
        let isPlace = name.map { $0.unicodeScalars.count <= Note.Location.longestName } ?? false
        // The name of a point is that of its place, or else the beginning of its text.
        for text in (isPlace ? [] : [name].compactMap(\.self)) + self.texts where !texts.contains(text) {
            texts.append(text)
        }
        if texts.isEmpty { texts = [name ?? position.map { "\($0.latitude), \($0.longitude)" } ?? ""] }
        var fields = JSONObject()
        fields["body"] = .string(texts.joined(separator: "\n\n"))
        fields["location"] = position.map { Self.location($0, named: isPlace ? name.map { .string($0) } : nil) }
        return fields
    }
}

extension JSONValue {
    /// Its text, if it is one that can be seen.
    fileprivate var visibleText: String? {
        string.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
    }

    fileprivate var numbers: [Double]? {
        let numbers = array?.compactMap(\.double)
        return numbers?.count == array?.count ? numbers : nil
    }
}

// MARK: GPX

extension NoteFile {
    /// Reads the waypoints of GPX 1.0 or 1.1.
    private mutating func readGPX(_ bytes: Data) throws {
        do {
            var reader = try XMLReader(Array(bytes))
            guard case .start("gpx", _) = try reader.next() else {
                throw problem(.unsupportedMediaType, .noFormOfNotes(title))
            }
            // The elements within the root.
            var (path, text): ([String], String) = ([], "")
            var waypoint: (line: Int, attributes: [String: String], texts: [String: String])?
            while let event = try reader.next() {
                switch event {
                case .start(let name, let attributes):
                    path.append(name)
                    text = ""
                    if path == ["wpt"] { waypoint = (reader.line, attributes, [:]) }
                    if path == ["trk"] || path == ["rte"] { leftOut += 1 }
                case .text(let part): text += part
                case .end where path.isEmpty: break
                case .end(let name):
                    let place = path.first == "wpt" && path.count <= 3 ? path.dropFirst().joined(separator: "/") : nil
                    path.removeLast()
                    if let ended = waypoint, name == "wpt", path.isEmpty {
                        waypoint = nil
                        try add(ended.attributes, ended.texts, at: .lineOfFile(ended.line))
                    } else if let place {
                        waypoint?.texts[place] = text
                    }
                }
            }
        } catch let defect as XMLDefect {
            throw problem(.damaged, "\(title), \(Text.lineOfFile(defect.line)): \(defect.reason)")
        }
    }

    /// Adds a waypoint.
    ///
    /// - Parameter texts: those of its elements, by their paths.
    private mutating func add(_ attributes: [String: String], _ texts: [String: String], at place: Text) throws {
        let numbers = ["lat", "lon"].compactMap { attributes[$0].flatMap { Double($0.filter { !$0.isWhitespace }) } }
        guard numbers.count == 2 else { return try fail(place, .noCoordinates) }
        let position = (numbers[0], numbers[1])
        if let own = texts["extensions/\(NoteFormat.Waypoint.extensionName)"],
            // Others may have changed it.
            let members = try? JSONFields(Data(own.utf8)).values
        {
            var fields = members
            fields["body"] = members["body"] ?? texts["desc"].map { .string($0) }
            fields["location"] = ForeignPoint.location(position, named: members["place"])
            return try add(fields, at: place)
        }
        let text = { (name: String) in texts[name].map { JSONValue.string($0) }?.visibleText }
        let described = [text("cmt"), text("desc")].compactMap(\.self)
        var fields = ForeignPoint(name: text("name"), texts: described, position: position).fields
        fields["created_at"] = text("time").map { .string($0) }
        try add(fields, at: place)
    }
}
