import Cluster
import Concurrency
import Foundation
import Screens
import Storage

/// Notes as files: exports all of an account, and imports those of a file.
struct NoteTransfer: Sendable {
    /// The most notes of an import: it is one transaction, for which all other writes wait.
    static let mostNotes = 10_000
    /// The most bytes of texts of an import.
    private static let mostBytes = 4 << 20
    private static let limits = UploadedForm.Limits(files: 16, fields: 0, fileBytes: 16 << 20, bodyBytes: 17 << 20)

    let app: Notes
    /// A file takes many times its bytes while it is read.
    private let reading = AsyncSemaphore(permits: 1, maximumWaiting: 64)

    /// `GET /v1/notes/export`: all notes of one state, the last saved last. Those in the trash are left out.
    @Sendable func export(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let formats = NoteFormat.allCases.map(\.rawValue)
        let name = try request.query.string("format") ?? formats[0]
        guard let format = NoteFormat(rawValue: name) else {
            let accepted: Text = "accepts \(formats.joined(separator: ", "))"
            throw Problem.invalidParameter("format", accepted: accepted)
        }
        // A file does not say how old it may be.
        if let lag = try await app.store.users.catchUp() { throw lag.reason }
        let file = try app.scratch.file()
        var (pending, isFirst) = (Data(format.opening.utf8), true)
        try app.store.forEachNote(of: account) { note in
            guard let text = try format.text(of: note, isFirst: isFirst) else { return }
            (isFirst, pending) = (false, pending + text)
            guard pending.count > 1 << 16 else { return }
            try file.append(pending)
            pending = Data()
        }
        try file.append(pending + Data(format.closing.utf8))
        let fileName = "notes-\(WireFormat.timestamp(app.clock.now()).prefix(10)).\(format.rawValue)"
        return .download(file, type: format.mediaType, fileName: fileName)
    }

    /// `POST /v1/notes/import`: adds the notes of files that the account does not have yet, all or none.
    @Sendable func add(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let account = try session.noteAccount()
        let form = try await request.uploadedForm(into: app.scratch, limits: Self.limits)
        guard !form.files.isEmpty else { throw Problem.validation([.field("/files", "required", .noFileOfNotes)]) }
        let (notes, leftOut) = try await reading.withPermit { try read(form) }
        let now = app.clock.now()
        let (added, response) = try await request.answering { (added: NoteStore.Added) in
            let screen = NoteImportScreen(added, of: notes.count, leftOut: leftOut)
            return try .local(screen, "notes.list", request, revision: added.revision, selfLink: "/v1/notes")
        } to: {
            try await add(notes, request, account: account, now: now)
        }
        if added.count > 0 { app.events.publishNotes(added.revision, to: account) }
        return response
    }

    private func read(_ form: UploadedForm) throws -> (notes: [NoteDraft], leftOut: Int) {
        var (notes, leftOut): ([NoteDraft], Int) = ([], 0)
        for (index, file) in form.files.enumerated() {
            let bytes = try Data(contentsOf: URL(filePath: file.place.path))
            let (title, room) = (file.title(at: index), Self.mostNotes - notes.count)
            let read = try NoteFile(bytes, title: title, index: index, mostNotes: room)
            notes += read.notes
            leftOut += read.leftOut
        }
        guard notes.reduce(0, { $0 + $1.body.utf8.count }) <= Self.mostBytes else {
            throw Problem(.tooLarge, .tooManyNotesAtOnce)
        }
        for index in notes.indices where notes[index].location.name.isEmpty {
            notes[index].address = app.addresses.nearestPlace(to: notes[index].location.coordinate)
        }
        return (notes, leftOut)
    }

    private func add(_ notes: [NoteDraft], _ request: ScreenRequest, account: Int64, now: Date) async throws
        -> NoteStore.Added
    {
        do {
            return try await app.store.add(
                notes,
                preconditions: request.writePreconditions(),
                quota: app.quota,
                account: account,
                now: now
            )
        } catch JournalError.changesetTooLarge {
            throw Problem(.tooLarge, .tooManyNotesAtOnce)
        }
    }
}

/// `POST /v1/notes/import`.
struct NoteImportScreen: Encodable, Sendable {
    let added: Int
    /// Notes that the account had already.
    let unchanged: Int
    /// Tracks, routes, lines and areas.
    let leftOut: Int
    /// All three.
    let text: Text
    let revision: Int
    let route: ScreenLink

    init(_ added: NoteStore.Added, of count: Int, leftOut: Int) {
        (self.added, unchanged, self.leftOut) = (added.count, count - added.count, leftOut)
        text = .imported(added: added.count, unchanged: count - added.count, leftOut: leftOut)
        (revision, route) = (added.revision, .noteList)
    }
}

extension Action {
    static func importNotes(disabled reason: Text?) -> Action {
        Action(
            id: "import",
            title: .importNotes,
            method: "POST",
            href: "/v1/notes/import",
            fields: [Field("files", .files, .noteFiles)],
            disabled: reason
        )
    }

    /// An action for each form of files.
    static let exportNotes = NoteFormat.allCases.map { format in
        let href: Link = "/v1/notes/export"
        return Action.show("export_\(format.rawValue)", .export(format), href.query("format", format.rawValue))
    }
}

/// The notes of an account as files of an archive: JSON for programs, Markdown for people, GeoJSON for maps. The last
/// saved note is the last one. Notes in the trash are left out.
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
