import Foundation
import Screens

/// A form of files with notes: to be saved, and to be imported again.
enum NoteFormat: String, CaseIterable, Sendable {
    /// Larder's own, with all that a note has.
    case json
    /// RFC 7946. A note without a place has no geometry.
    case geojson
    /// GPX 1.1, for maps and navigation: each note is a waypoint. Notes without a place are left out.
    case gpx

    var mediaType: String {
        switch self {
        case .json: MediaType.json
        case .geojson: NoteFeatureCollection.mediaType
        case .gpx: "application/gpx+xml; charset=utf-8"
        }
    }

    /// The text before the notes.
    var opening: String {
        switch self {
        case .json: #"{"notes":["#
        case .geojson: #"{"type":"FeatureCollection","features":["#
        case .gpx:
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="Larder" xmlns="http://www.topografix.com/GPX/1/1"
                xmlns:larder="urn:larder:notes">
            """
        }
    }

    /// The text after the notes.
    var closing: String { self == .gpx ? "\n</gpx>\n" : "\n]}\n" }

    /// Returns the text of a note; nil if the form has none for it.
    func text(of note: Note, isFirst: Bool) throws -> Data? {
        switch self {
        case .json: Data((isFirst ? "\n" : ",\n").utf8) + (try WireFormat.encode(Record(note)))
        case .geojson: Data((isFirst ? "\n" : ",\n").utf8) + (try WireFormat.encode(Feature(note)))
        case .gpx: note.location == .unknown ? nil : Data(try Waypoint(note).text.utf8)
        }
    }
}

extension NoteFormat {
    /// A note in Larder's own form.
    struct Record: Encodable {
        let id: String
        let body: String
        let createdAt: Date
        let modifiedAt: Date
        let location: NoteLocationScreen
        let version: Int

        init(_ note: Note) {
            id = Note.identity(note.id)
            body = note.body
            createdAt = note.created
            modifiedAt = note.modified
            location = NoteLocationScreen(note.location)
            version = note.revision
        }
    }

    /// A note in GeoJSON.
    struct Feature: Encodable {
        struct Properties: Encodable {
            let body: String
            let place: String
            let createdAt: Date
            let modifiedAt: Date
        }

        let type = "Feature"
        let id: String
        @Nullable var geometry: NoteFeatureCollection.Point?
        let properties: Properties

        init(_ note: Note) {
            let point = note.location.coordinate
            let geometry = NoteFeatureCollection.Point(coordinates: [point.longitude, point.latitude])
            id = Note.identity(note.id)
            self.geometry = note.location == .unknown ? nil : geometry
            properties = Properties(
                body: note.body,
                place: note.location.name,
                createdAt: note.created,
                modifiedAt: note.modified
            )
        }
    }

    /// A note in GPX. `larder:note` has all that GPX has no element for.
    struct Waypoint {
        /// The name of the element of Larder's own.
        static let extensionName = "larder:note"

        private struct Extension: Encodable {
            let id: String
            /// The text, if XML does not have all of its characters.
            let body: String?
            let place: String
            let createdAt: Date
            let modifiedAt: Date
        }

        let text: String

        init(_ note: Note) throws {
            let own = Extension(
                id: Note.identity(note.id),
                body: note.body.isOfXML ? nil : note.body,
                place: note.location.name,
                createdAt: note.created,
                modifiedAt: note.modified
            )
            // JSON escapes the control characters, but not the other two that XML lacks.
            let json = String(decoding: try WireFormat.encode(own), as: UTF8.self)
                .replacing("\u{FFFE}", with: #"\ufffe"#).replacing("\u{FFFF}", with: #"\uffff"#)
            let (latitude, longitude) = (note.location.coordinate.latitude, note.location.coordinate.longitude)
            text = """

                <wpt lat="\(latitude.decimal)" lon="\(longitude.decimal)">\
                <time>\(WireFormat.timestamp(note.created))</time>\
                <name>\(NoteOutline(note).firstLine.xmlEscaped)</name><desc>\(note.body.xmlEscaped)</desc>\
                <extensions><\(Self.extensionName)>\(json.xmlEscaped)</\(Self.extensionName)></extensions></wpt>
                """
        }
    }
}

extension Double {
    /// The shortest decimal number that is read as this one, without an exponent (`xsd:decimal`).
    var decimal: String {
        let parts = description.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]), exponent < 0 else { return description }
        let digits = parts[0].filter(\.isNumber)
        let zeros = String(repeating: "0", count: -exponent - 1)
        return "\(self < 0 ? "-" : "")0.\(zeros)\(digits)"
    }
}

extension NoteOutline {
    init(_ note: Note) {
        self.init(
            id: note.id,
            opening: Self.opening(of: note.body),
            location: note.location,
            modified: note.modified,
            revision: note.revision
        )
    }
}
