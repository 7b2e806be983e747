import Foundation
public import Media
public import Storage

extension DocumentEngine {
    /// The engine of Kit/Media: `larder-pdf-worker` for documents, `vips` for photos, `pdftoppm` for pictures of pages.
    /// `scratch` takes what is neither source nor result.
    public init(_ media: MediaEngine, scratch: ScratchFolder) {
        self.init(
            compose: { sources, format, output, progress in
                try await Composing(media: media, scratch: scratch, format: format).compose(sources, output, progress)
            },
            arrange: { files, picks, output, progress in
                try await translated {
                    let pages = picks.map { ComposedPage(source: $0.file, page: $0.page, rotateBy: $0.turn) }
                    _ = try await media.documents.compose(
                        pages,
                        of: files.map { URL(filePath: $0) },
                        to: URL(filePath: output)
                    ) { progress($0.fraction) }
                }
            },
            typeset: { text, locale, output, progress in
                try await translated {
                    let made = try await media.documents.textPages(text, locale: locale, to: URL(filePath: output)) {
                        progress($0.fraction)
                    }
                    return TextPages(
                        pages: made.pages.map { MadePage($0, kind: .text) },
                        missingCharacters: made.missingGlyphs
                    )
                }
            },
            draw: { file, page, size, width in
                try await translated {
                    let size = PDFPage(width: size.width, height: size.height, rotation: 0)
                    let picture = try await media.pages.picture(
                        of: page,
                        in: URL(filePath: file),
                        size: size,
                        width: width
                    )
                    return Picture(bytes: picture.data, type: picture.mediaType)
                }
            }
        )
    }

    /// Makes documents of photos and PDFs in any order: neighbouring photos at once, then all parts together.
    private struct Composing: Sendable {
        /// Neighbours among the sources that are worked on at once.
        private struct Part {
            var first: Int
            var sources: [Source]
            var isPhotos: Bool { sources[0].kind != .pdf }
        }

        let media: MediaEngine
        let scratch: ScratchFolder
        let format: PageFormat

        func compose(_ sources: [Source], _ output: String, _ progress: @escaping Progress) async throws -> [MadePage] {
            let parts = sources.enumerated().reduce(into: [Part]()) { parts, source in
                if source.element.kind != .pdf, let last = parts.last, last.isPhotos {
                    parts[parts.count - 1].sources.append(source.element)
                } else {
                    parts.append(Part(first: source.offset, sources: [source.element]))
                }
            }
            if parts.count == 1 { return try await write(parts[0], to: output, progress) }
            var files: [URL] = []
            var places: [TemporaryPath] = []
            var kinds: [MadePage.Kind] = []
            for (index, part) in parts.enumerated() {
                let place = scratch.place(".pdf")
                let share = { @Sendable (value: Double) in progress((Double(index) + value) / Double(parts.count + 1)) }
                let pages = try await write(part, to: place.path, share)
                kinds += pages.map(\.kind)
                files.append(URL(filePath: place.path))
                places.append(place)
            }
            let all = files
            let summary = try await translated { try await media.documents.merge(all, to: URL(filePath: output)) }
            withExtendedLifetime(places) {}
            return zip(summary.pages, kinds).map { MadePage($0, kind: $1) }
        }

        private func write(_ part: Part, to output: String, _ progress: @escaping Progress) async throws -> [MadePage] {
            let urls = part.sources.map { URL(filePath: $0.path) }
            let layout: PageLayout = format == .fit ? .fit : .a4
            return try await translated(first: part.first, count: part.sources.count) {
                let summary =
                    part.isPhotos
                    ? try await media.documents.pages(
                        of: urls.map { .file($0) },
                        layout: layout,
                        to: URL(filePath: output)
                    ) { progress($0.fraction) }
                    : try await media.documents.importDocument(urls[0], to: URL(filePath: output)) {
                        progress($0.fraction)
                    }
                return summary.pages.map { MadePage($0, kind: part.isPhotos ? .image : .imported) }
            }
        }
    }
}

extension DocumentEngine.MadePage {
    /// A page as Media tells of it: as it is shown. A photo's own orientation is none of the user's turns, so it counts
    /// as none.
    init(_ page: PDFPage, kind: Kind) {
        let isTurned = kind != .image && page.rotation % 180 != 0
        self.init(
            kind: kind,
            width: isTurned ? page.height : page.width,
            height: isTurned ? page.width : page.height,
            rotation: kind == .image ? 0 : page.rotation
        )
    }
}

extension JobProgress {
    fileprivate var fraction: Double { total > 0 ? Double(done) / Double(total) : 0 }
}

/// Runs work of Media's and puts its errors into the app's terms. The inputs are `count` sources from `first` on; an
/// error that names none is that of the only one.
private func translated<Result: Sendable>(
    first: Int? = nil,
    count: Int = 1,
    isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws -> Result
) async throws -> Result {
    do {
        return try await work()
    } catch let error as MediaError.OfInput {
        throw DocumentEngineError(error.error, source: first.map { $0 + error.index }) ?? error
    } catch let error as MediaError {
        throw DocumentEngineError(error, source: count == 1 ? first : nil) ?? error
    }
}

extension DocumentEngineError {
    /// What a client can do something about; nil for an error that is only for the log.
    init?(_ error: MediaError, source: Int?) {
        switch error {
        case .toolMissing(let tool): self = .toolMissing(tool: tool.executable, package: tool.package)
        case .overloaded: self = .overloaded
        case .timedOut: self = .timedOut(source: source)
        case .tooLarge(.pixels(let limit)): self = .tooManyPixels(source: source, limit: limit)
        case .tooLarge(.bytes(let limit)): self = .tooManyBytes(source: source, limit: limit)
        case .tooLarge: self = .tooLarge(source: source)
        // A file that makes a program crash is no file of its kind, whatever else it may be.
        case .damaged, .crashed: self = .damaged(source: source)
        case .encrypted: self = .encrypted(source: source)
        case .tooManyPages(let limit): self = .tooManyPages(source: source, limit: limit)
        case .unsupported: self = .unsupported(source: source)
        case .noGlyphs: self = .noGlyphs
        case .noSuchPage, .unconfined, .failed: return nil
        }
    }
}
