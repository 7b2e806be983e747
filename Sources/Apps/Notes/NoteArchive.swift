import Foundation
import Screens

/// The notes of an account as files of an archive: JSON for programs, Markdown for people, GeoJSON for maps. The last
/// saved comes last. Notes in the trash are left out.
struct NoteArchive {
    private let records: ZipText
    private let readable: ZipText
    private let features: ZipText
    private var count = 0

    init(of owner: UserData.Owner, in archive: ZipArchive) throws {
        (records, readable, features) = (try archive.text(), try archive.text(), try archive.text())
        try records.append(NoteFormat.json.opening)
        try readable.append("# \(owner.session?.name ?? "")\n")
        try features.append(NoteFormat.geojson.opening)
    }

    mutating func append(_ note: Note) throws {
        for (text, format) in [(records, NoteFormat.json), (features, .geojson)] {
            if let bytes = try format.text(of: note, isFirst: count == 0) { try text.append(bytes) }
        }
        try readable.append(Self.readable(note))
        count += 1
    }

    /// - Returns: the number of notes.
    func end(in archive: ZipArchive) throws -> [String: Int] {
        try records.append(NoteFormat.json.closing)
        try features.append(NoteFormat.geojson.closing)
        try archive.add(records, as: "notes/notes.json")
        try archive.add(readable, as: "notes/notes.md")
        try archive.add(features, as: "notes/notes.geojson")
        return ["notes": count]
    }

    private static func readable(_ note: Note) -> String {
        let point = note.location.coordinate
        let place = note.location == .unknown ? "" : ", \(note.location.name) (\(point.latitude), \(point.longitude))"
        return "\n---\n\n*\(WireFormat.timestamp(note.modified))\(place)*\n\n\(note.body)\n"
    }
}
