import CQPDF
import Foundation
import MediaFormats

/// `larder-pdf-worker job.json`: runs one job, writes its progress and its result to standard output, and exits.
@main
struct PDFWorkerCommand {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let argument = arguments.first, arguments.count == 1 else { exit(usage()) }
        if argument == "--version" {
            let qpdf = String(cString: qpdf_get_qpdf_version())
            let pango = TextPages.pangoVersion.map { "pango \($0)" } ?? "without pango"
            print("larder-pdf-worker with qpdf \(qpdf), \(pango)")
            exit(PDFWorkerMessage.ExitCode.done)
        }
        guard let data = try? Data(contentsOf: URL(filePath: argument)),
            let job = try? JSONDecoder().decode(PDFJob.self, from: data)
        else { exit(usage()) }
        do {
            Messages.send(.done(try JobRunner(job: job).run()))
            exit(PDFWorkerMessage.ExitCode.done)
        } catch let error as JobError {
            Messages.send(.failed(error.failure, input: error.input))
        } catch {
            Messages.send(.failed(.other("\(error)"), input: nil))
        }
        exit(PDFWorkerMessage.ExitCode.failed)
    }

    private static func usage() -> Int32 {
        try? FileHandle.standardError.write(
            contentsOf: Data("usage: larder-pdf-worker job.json   (Larder writes the file; see PDFJob)\n".utf8)
        )
        return PDFWorkerMessage.ExitCode.usage
    }
}
