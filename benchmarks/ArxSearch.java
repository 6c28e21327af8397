import java.io.BufferedReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXLattice.ARXNode;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;
import org.deidentifier.arx.metric.Metric.AggregateFunction;

/**
 * Runs the optimal search of ARX: java -cp ARX ArxSearch.java FOLDER RUNS SUPPRESSION SENSITIVE MODEL...
 *
 * FOLDER has rows.csv and a file NAME.csv with the hierarchy of each quasi-identifier NAME. SENSITIVE is a column, or
 * "-" for none. A MODEL is k=5, l=3 (distinct values) or t=0.2 (equal distances). Each run begins with the rows in
 * memory, as texts, and ends with the output in memory; reading the files is not measured. Prints a line of JSON.
 * With -Dalgorithm=BEST_EFFORT_GENETIC -Dseconds=30, another algorithm with a time limit replaces the optimal search.
 */
public class ArxSearch {

    public static void main(String[] given) throws Exception {
        Path folder = Path.of(given[0]);
        double[] seconds = new double[Integer.parseInt(given[1])];
        double[] processor = new double[seconds.length];
        ARXNode best = null;
        for (int run = 0; run < seconds.length; run++) {
            Data data = data(folder, given[3]);
            System.gc();
            long begun = System.nanoTime(), used = processorTime();
            ARXResult result = new ARXAnonymizer().anonymize(data, configuration(given));
            best = result.getGlobalOptimum();
            result.getOutput(false);
            seconds[run] = (System.nanoTime() - begun) / 1e9;
            processor[run] = (processorTime() - used) / 1e9;
        }
        StringBuilder levels = new StringBuilder();
        for (String name : best.getQuasiIdentifyingAttributes()) {
            String comma = levels.length() == 0 ? "" : ", ";
            levels.append(comma + "\"" + name + "\": " + best.getGeneralization(name));
        }
        System.out.printf("{\"seconds\": %s, \"processor\": %s, \"levels\": {%s}, \"loss\": %s, \"peak\": %d}%n",
            Arrays.toString(seconds), Arrays.toString(processor), levels, best.getHighestScore(), peak());
    }

    private static Data data(Path folder, String sensitive) throws Exception {
        Data data = Data.create(folder.resolve("rows.csv").toFile(), StandardCharsets.UTF_8, ';');
        String first;
        try (BufferedReader lines = Files.newBufferedReader(folder.resolve("rows.csv"))) {
            first = lines.readLine();
        }
        for (String name : first.split(";")) {
            if (name.equals(sensitive)) {
                data.getDefinition().setAttributeType(name, AttributeType.SENSITIVE_ATTRIBUTE);
            } else {
                Path file = folder.resolve(name + ".csv");
                data.getDefinition().setAttributeType(name, Hierarchy.create(file.toFile(), StandardCharsets.UTF_8, ';'));
            }
        }
        return data;
    }

    private static ARXConfiguration configuration(String[] given) {
        ARXConfiguration configuration = ARXConfiguration.create();
        configuration.setSuppressionLimit(Double.parseDouble(given[2]));
        configuration.setQualityModel(Metric.createLossMetric(AggregateFunction.ARITHMETIC_MEAN));
        String algorithm = System.getProperty("algorithm");
        if (algorithm != null) {
            configuration.setAlgorithm(ARXConfiguration.AnonymizationAlgorithm.valueOf(algorithm));
            configuration.setHeuristicSearchTimeLimit((int) (1000 * Double.parseDouble(System.getProperty("seconds"))));
        }
        for (String model : Arrays.asList(given).subList(4, given.length)) {
            String value = model.substring(2);
            switch (model.charAt(0)) {
                case 'k' -> configuration.addPrivacyModel(new KAnonymity(Integer.parseInt(value)));
                case 'l' -> configuration.addPrivacyModel(new DistinctLDiversity(given[3], Integer.parseInt(value)));
                case 't' -> configuration.addPrivacyModel(new EqualDistanceTCloseness(given[3], Double.parseDouble(value)));
                default -> throw new IllegalArgumentException(model);
            }
        }
        return configuration;
    }

    private static long processorTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Returns the peak memory of this process in bytes, or 0 where the system has no /proc. */
    private static long peak() throws Exception {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmHWM")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return 0;
    }
}
