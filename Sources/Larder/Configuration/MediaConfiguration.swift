import Foundation
import Media

/// What Larder is told of work on pictures and documents.
struct MediaConfiguration: Sendable {
    /// Where the programs are, as far as they were found.
    var tools: MediaTools
    /// What bounds the work.
    var limits: MediaLimits

    init(_ settings: SettingsReader, environment: [String: String]) throws {
        tools = MediaTools.find(
            searchPath: environment["PATH"] ?? "",
            pdfWorker: try settings.text("media.pdf_worker"),
            executable: Self.executable()
        )
        limits = MediaLimits()
        limits.children = try settings.integer("media.children")
        limits.waiting = try settings.integer("media.waiting")
        limits.pictureBytes = try settings.integer("media.picture_mb") << 20
        limits.picturePixels = try settings.integer("media.picture_megapixels") * 1_000_000
        limits.pageWidth = try settings.integer("media.page_width")
        limits.pdfBytes = try settings.integer("media.pdf_mb") << 20
        limits.pdfPages = try settings.integer("media.pdf_pages")
        limits.textBytes = try settings.integer("media.text_kb") << 10
        limits.textPages = try settings.integer("media.text_pages")
        limits.officeBytes = try settings.integer("media.office_mb") << 20
        for tool in Setting.mediaTools {
            limits[keyPath: tool.limits].memory = try settings.integer("media.\(tool.name)_memory_mb") << 20
            limits[keyPath: tool.limits].processor = .seconds(try settings.integer("media.\(tool.name)_cpu_s"))
            limits[keyPath: tool.limits].wall = .seconds(try settings.integer("media.\(tool.name)_timeout_s"))
            limits[keyPath: tool.limits].fileBytes = try settings.integer("media.\(tool.name)_file_mb") << 20
        }
    }

    /// The running executable, also where it was started by its bare name.
    private static func executable() -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }
}
