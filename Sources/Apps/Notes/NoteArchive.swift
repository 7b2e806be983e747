import Foundation
import Screens

/// The notes of an account as files of an archive: JSON for programs, Markdown for people, GeoJSON for maps. The last
/// saved comes last. Notes in the trash are left out.
struct NoteArchive {
    /// A note in `notes.json`.
    private struct Record: Encodable {
        let id: String
        let body: String
        let createdAt: Date
        let modifiedAt: Date
        let location: NoteLocationScreen
        let version: Int
    }

    /// A note in `notes.geojson` (RFC 7946); one without a place has no geometry.
    private struct Feature: Encodable {
        struct Point: Encodable {
            let type = "Point"
            let coordinates: [Double]

            private enum CodingKeys: CodingKey { case type, coordinates }
        }
        struct Properties: Encodable {
            let body: String
            let place: String
            let modifiedAt: Date
        }

        let type = "Feature"
        let id: String
        @Nullable var geometry: Point?
        let properties: Properties

        private enum CodingKeys: CodingKey { case type, id, geometry, properties }
    }

    private let records: ZipText
    private let readable: ZipText
    private let features: ZipText
    private var count = 0

    init(of owner: UserData.Owner, in archive: ZipArchive) throws {
        (records, readable, features) = (try archive.text(), try archive.text(), try archive.text())
        try records.append(#"{"notes":["#)
        try readable.append("# \(owner.session?.name ?? "")\n")
        try features.append(#"{"type":"FeatureCollection","features":["#)
    }

    mutating func append(_ note: Note) throws {
        if count > 0 { for text in [records, features] { try text.append(",") } }
        try records.append("\n")
        try records.append(WireFormat.encode(Self.record(note)))
        try features.append("\n")
        try features.append(WireFormat.encode(Self.feature(note)))
        try readable.append(Self.readable(note))
        count += 1
    }

    /// - Returns: the number of notes.
    func end(in archive: ZipArchive) throws -> [String: Int] {
        for text in [records, features] { try text.append("\n]}\n") }
        try archive.add(records, as: "notes/notes.json")
        try archive.add(readable, as: "notes/notes.md")
        try archive.add(features, as: "notes/notes.geojson")
        return ["notes": count]
    }

    private static func record(_ note: Note) -> Record {
        Record(
            id: Note.identity(note.id),
            body: note.body,
            createdAt: note.created,
            modifiedAt: note.modified,
            location: NoteLocationScreen(note.location),
            version: note.revision
        )
    }

    private static func feature(_ note: Note) -> Feature {
        let point = note.location.coordinate
        let geometry = Feature.Point(coordinates: [point.longitude, point.latitude])
        return Feature(
            id: Note.identity(note.id),
            geometry: note.location == .unknown ? nil : geometry,
            properties: .init(body: note.body, place: note.location.name, modifiedAt: note.modified)
        )
    }

    private static func readable(_ note: Note) -> String {
        let point = note.location.coordinate
        let place = note.location == .unknown ? "" : ", \(note.location.name) (\(point.latitude), \(point.longitude))"
        return "\n---\n\n*\(WireFormat.timestamp(note.modified))\(place)*\n\n\(note.body)\n"
    }
}
